#include "tasks/generate/prompts.hpp"

#include <algorithm>

#include "tasks/reading/input_tokens.hpp"

namespace glassformer {
namespace {

// The number of prompt tokens that one step reads: enough to keep the matrix products busy, few
// enough that a caller can stop between two steps.
constexpr std::size_t prompt_rows = 256;

void expect_heads(std::span<const HeadIndex> heads, const ModelConfig& config) {
  const StackConfig& stack = config.decoder();
  for (const HeadIndex& head : heads) {
    if (config.architecture.encoder) {
      const bool encoder = head.attention == AttentionSite::encoder;
      expect_head("ablate", head.layer, head.head, encoder ? config.encoder() : stack);
      continue;
    }
    const bool own = head.attention == AttentionSite::decoder;
    if (own && head.layer < stack.layers.size() && head.head < stack.n_heads()) continue;
    throw_error(ErrorCode::invalid_option,
                {"ablate: expected the decoder's layers below {} and heads below {}, got {}layer "
                 "{}, head {}",
                 {stack.layers.size(), stack.n_heads(), own ? "" : "another stack's ", head.layer,
                  head.head}});
  }
}

void expect_ids(const char* option, const std::optional<std::vector<std::size_t>>& ids,
                std::size_t vocab_size) {
  for (const std::size_t id : ids.value_or(std::vector<std::size_t>())) {
    if (id < vocab_size) continue;
    refuse_option(option, {"expected ids below {}, got {}", {vocab_size, id}});
  }
}

}  // namespace

PromptReader::PromptReader(GeneratePipeline& pipeline, const GenerationConfig& settings,
                           const DecoderOptions& options)
    : pipeline_(pipeline), settings_(settings) {
  expect_heads(options.ablate, pipeline.config());
  trace_ = TracePlan(pipeline.model().decoder(), pipeline.session(),
                     {.attention = options.attention,
                      .names = options.trace,
                      .patches = with_ablations(options.patch, options.ablate)});
}

Prompt PromptReader::read(std::string_view text, std::size_t beams,
                          const std::function<std::size_t(std::size_t read)>& most_new) {
  expect_text_size(GeneratePipeline::max_text_bytes, text.size());
  const GenerationModel& model = pipeline_.model();
  const GenerationInput input = model.read(text, most_new(0), settings_);
  const std::size_t read = input.prompt.size();
  const ModelConfig& config = pipeline_.config();
  const std::size_t max_new = std::min(most_new(read), config.decoder().max_length + 1 - read);
  Prompt prompt = {.tokens = input_tokens(input.tokens, pipeline_.tokenizer()),
                   .clipped = input.clipped,
                   .ids = input.prompt,
                   .max_new = max_new,
                   .limits = {.nodes = read + beams * (max_new - 1),
                              .positions = read + max_new - 1,
                              .rows = std::max(beams, std::min(read, prompt_rows))}};
  expect_search_fits(config.decoder(), {.most = "",
                                        .tokens = max_new,
                                        .beams = beams,
                                        .nodes = prompt.limits.nodes,
                                        .option = "max_new_tokens"});
  budget_.take(result_numbers(config, trace_, {input.source.size(), prompt.limits.positions}));
  if (config.architecture.encoder) {
    prompt.encoded = model.encode(input, request(), pipeline_.session());
  }
  model.decoder().reserve_logits(beams, pipeline_.session());
  return prompt;
}

bool PromptReader::feed_some(Prompt& prompt) const {
  std::vector<Extension> extensions;
  const std::size_t end = std::min(prompt.ids.size() - 1, prompt.fed + prompt_rows);
  for (; prompt.fed < end; ++prompt.fed) {
    extensions.push_back(next_in_line(prompt.fed, prompt.ids[prompt.fed]));
  }
  if (extensions.empty()) return false;
  const LanguageModel& decoder = pipeline_.model().decoder();
  const View hidden = decoder.decode(*prompt.state, extensions);
  if (request().touches("logits")) decoder.project(const_view(hidden), *prompt.state);
  return true;
}

Constraints with_forbidden(Constraints constraints, const SampleOptions& options,
                           const GeneratePipeline& pipeline) {
  TokenRules& rules = constraints.rules;
  if (options.bad_words) {
    std::ranges::move(tokens_of_words(*options.bad_words, pipeline.tokenizer(), rules.ends),
                      std::back_inserter(rules.never));
  }
  const std::size_t vocab_size = pipeline.config().decoder().vocab_size();
  expect_ids("suppress_tokens", options.suppress_tokens, vocab_size);
  expect_ids("begin_suppress_tokens", options.begin_suppress_tokens, vocab_size);
  return constraints;
}

std::size_t vocab_size_of(const GeneratePipeline& pipeline) {
  return std::min(pipeline.tokenizer().size(), pipeline.config().decoder().vocab_size());
}

Captured with_encoder(Captured captured, Prompt& prompt) {
  if (!prompt.encoded) return captured;
  auto& [sources, states, attention, traces] = *prompt.encoded;
  if (!attention.empty()) captured.attention.encoder = std::move(attention[0]);
  if (!traces.empty()) {
    std::ranges::move(captured.trace, std::back_inserter(traces[0]));
    captured.trace = std::move(traces[0]);
  }
  return captured;
}

}  // namespace glassformer
