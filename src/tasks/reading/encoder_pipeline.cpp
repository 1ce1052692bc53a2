#include "tasks/reading/encoder_pipeline.hpp"

#include <algorithm>
#include <cmath>

#include "models/model.hpp"
#include "tasks/reading/token_checks.hpp"

namespace glassformer {
namespace {

// Texts run together until a batch holds this many tokens: enough to keep the matrix products busy,
// small enough that the activations stay in the cache.
constexpr std::size_t batch_tokens = 512;

std::vector<float> rows_of(const Tensor& matrix, std::size_t first, std::size_t count) {
  const float* begin = matrix.data() + first * matrix.shape(1);
  return {begin, begin + count * matrix.shape(1)};
}

}  // namespace

void expect_one_window(const EncoderOptions& options, std::span<const EncoderInput> windows) {
  if (windows.size() == 1) return;
  const char* option = options.attention              ? "attention"
                       : options.contributions        ? "contributions"
                       : !options.trace.empty()       ? "trace"
                       : !options.gradients.empty()   ? "gradients"
                       : !options.patch.empty()       ? "patch"
                       : !options.mask_tokens.empty() ? "mask_tokens"
                                                      : nullptr;
  if (!option) return;
  const std::size_t tokens = windows.back().begin + windows.back().tokens.size();
  throw_error(ErrorCode::too_large, Field(option),
              {"expected a text of at most {} tokens, got {}; set {} to \"first\" to read only a "
               "part of it",
               {windows[0].tokens.size(), tokens, Field("window")}});
}

EncoderPipeline::EncoderPipeline(ModelConfig config, std::span<const Task> accepted,
                                 std::unique_ptr<const Tokenizer> tokenizer, Compute compute)
    : config_(expect_task(std::move(config), accepted)),
      tokenizer_(std::move(tokenizer)),
      model_(make_encoder_model(config_.architecture, compute)) {
  if (tokenizer_) reader_.emplace(config_, *tokenizer_);
}

EncoderPipeline::EncoderPipeline(ModelConfig config, std::span<const Task> accepted,
                                 std::unique_ptr<const Tokenizer> tokenizer,
                                 std::shared_ptr<EncoderModel> model)
    : config_(expect_task(std::move(config), accepted)),
      tokenizer_(std::move(tokenizer)),
      model_(std::move(model)) {
  if (tokenizer_) reader_.emplace(config_, *tokenizer_);
}

EncoderPipeline::Batches::Batches(EncoderPipeline& pipeline, EncoderOptions options)
    : pipeline_(pipeline), options_(std::move(options)) {
  const Architecture& architecture = pipeline.config_.architecture;
  for (const HeadIndex& head : options_.ablate) {
    const bool of_encoder = head.attention == AttentionSite::encoder;
    if (!of_encoder && !architecture.decoder) {
      refuse_option("ablate",
                    "expected heads of the encoder, got one of the attention of a decoder");
    }
    expect_head("ablate", head.layer, head.head,
                of_encoder ? *architecture.encoder : *architecture.decoder);
  }
  if (!options_.gradients.empty()) {
    expect_gradients(pipeline.compute());
  } else if (options_.gradient_token) {
    refuse_option("gradient_token", "expected it only with gradients");
  }
  TraceRequest request = {.attention = options_.attention,
                          .contributions = options_.contributions,
                          .names = options_.trace,
                          .gradients = options_.gradients,
                          .patches = with_ablations(std::move(options_.patch), options_.ablate)};
  plan_ = TracePlan(*pipeline.model_, pipeline.session(), std::move(request));
}

void EncoderPipeline::Batches::explain(Explained explained) {
  explained_ = std::move(explained);
  if (!explained_) {
    throw_error(ErrorCode::unsupported,
                {"gradients: expected a model whose answer is a number, got one for {}",
                 {to_string(pipeline_.config_.task)}});
  }
}

void EncoderPipeline::Batches::check_mask(std::size_t tokens) const {
  expect_mask(tokens, options_.mask_tokens);
  const HeadConfig& head = pipeline_.config_.architecture.head;
  const bool pools_first =
      head.kind == HeadKind::sequence_classes && head.pooling == Pooling::first;
  if (pools_first && std::ranges::count(options_.mask_tokens, 0u) > 0) {
    refuse_option("mask_tokens",
                  "expected positions above 0, as this model answers from the first token, got "
                  "0");
  }
  if (head.pooling == Pooling::last && head.kind == HeadKind::sequence_classes &&
      std::ranges::count(options_.mask_tokens, tokens - 1) > 0) {
    refuse_option("mask_tokens",
                  {"expected positions below {}, as this model answers from the last "
                   "token, got {}",
                   {tokens - 1, tokens - 1}});
  }
  if (head.distilled && std::ranges::count(options_.mask_tokens, 1u) > 0) {
    refuse_option("mask_tokens",
                  "expected positions above 1, as this model answers from the first two rows, "
                  "got 1");
  }
}

void EncoderPipeline::Batches::add(std::size_t text, EncoderInput input) {
  const std::size_t tokens = input.tokens.size();
  check_mask(tokens);
  plan_.expect_fit({.source = tokens});
  std::uint64_t numbers = plan_.numbers({.source = tokens});
  if (options_.attention) {
    const Architecture& architecture = pipeline_.config_.architecture;
    const auto add = [&](const StackConfig& stack, std::uint64_t sites) {
      numbers += saturating_product({sites, stack.layers.size(), stack.n_heads(), tokens, tokens});
    };
    add(*architecture.encoder, 1);
    if (architecture.decoder) add(*architecture.decoder, 2);
  }
  budget_.take(numbers);
  inputs_.push_back({text, std::move(input)});
}

bool EncoderPipeline::Batches::fits(const Sequences& batch) const {
  if (next_ == inputs_.size()) return false;
  const std::size_t rows = inputs_[next_].input.tokens.size();
  return batch.size() == 0 || batch.tokens() + rows <= batch_tokens;
}

Batch EncoderPipeline::Batches::next_texts() {
  Batch batch;
  std::vector<std::int32_t> ids;
  for (; fits(batch); ++next_) {
    const EncoderInput& input = inputs_[next_].input;
    ids.clear();
    for (const Token& token : input.tokens) ids.push_back(token.id);
    batch.add(ids, options_.mask_tokens, input.types);
  }
  return batch;
}

Pictures EncoderPipeline::Batches::next_pictures() {
  const bool again = !options_.gradients.empty();
  Pictures pictures;
  for (; fits(pictures); ++next_) {
    EncoderInput& input = inputs_[next_].input;
    Pixels pixels = again ? input.pixels : std::move(input.pixels);
    pictures.add(std::move(pixels), input.tokens.size(), options_.mask_tokens);
  }
  return pictures;
}

std::vector<std::pair<std::size_t, EncoderAnswer>> EncoderPipeline::Batches::run_batch() {
  const std::size_t first = next_;
  const bool reads_pictures = glassformer::reads_pictures(pipeline_.config_);
  const Pictures pictures = reads_pictures ? next_pictures() : Pictures();
  const Batch texts = reads_pictures ? Batch() : next_texts();
  const Sequences& batch = reads_pictures ? static_cast<const Sequences&>(pictures) : texts;
  std::vector<std::pair<std::size_t, EncoderAnswer>> answers;
  if (batch.size() == 0) return answers;

  // Tensors with a row per token need all rows.
  const bool needs_all = !options_.trace.empty() || !plan_.request().patches.empty();
  std::vector<std::size_t> rows;
  for (std::size_t s = 0; s < batch.size() && !needs_all; ++s) {
    for (const std::size_t row : inputs_[first + s].input.rows)
      rows.push_back(batch.start(s) + row);
  }
  EncoderModel::Output output = reads_pictures ? pipeline_.model()(pictures, plan_.request())
                                               : pipeline_.model()(texts, plan_.request(), rows);
  const bool by_text = pipeline_.config_.architecture.head.kind == HeadKind::sequence_classes;
  const bool states = pipeline_.config_.architecture.head.kind == HeadKind::vectors;
  const Tensor& result = states ? output.states : output.logits;
  std::size_t next_row = 0;  // of chosen rows
  for (std::size_t s = 0; s < batch.size(); ++s) {
    auto& [text, input] = inputs_[first + s];
    EncoderAnswer answer;
    answer.input = std::move(input);
    answer.columns = result.shape(1);
    const std::size_t chosen = rows.empty() ? 0 : answer.input.rows.size();
    answer.rows = by_text      ? rows_of(result, s, 1)
                  : chosen > 0 ? rows_of(result, next_row, chosen)
                               : rows_of(result, batch.start(s), batch.length(s));
    next_row += chosen;
    if (options_.attention) answer.attention = std::move(output.attention[s]);
    if (!output.cross_attention.empty()) {
      answer.decoder_attention = std::move(output.decoder_attention[s]);
      answer.cross_attention = std::move(output.cross_attention[s]);
    }
    if (!options_.trace.empty()) answer.trace = std::move(output.traces[s]);
    if (options_.contributions) {
      answer.contributions = rows_of(output.contributions, batch.start(s), batch.length(s));
    }
    if (!options_.gradients.empty()) {
      answer.gradients = gradients_for(answer.input);
    }
    answers.emplace_back(text, std::move(answer));
  }
  return answers;
}

std::vector<TracedTensor> EncoderPipeline::Batches::gradients_for(const EncoderInput& input) {
  expect_linked_gradients();
  const ExplainedText text = explained_text(input);
  const WholePass pass = text.pass(options_.mask_tokens);
  TraceRequest patches;
  patches.patches = plan_.request().patches;
  const auto patching = make_tracer(patches, pass.encoded(), pipeline_.config_.encoder());
  return gradients_of([&](Run& run) { return pass(*pipeline_.model_, run); },
                      [&](const ConstView& logits) { return explained_(input, logits); },
                      options_.gradients, pipeline_.session(), patching.get(), patches.patches)
      .tensors;
}

ExplainedText explained_text(const EncoderInput& input) {
  ExplainedText text;
  for (const Token& token : input.tokens) text.ids.push_back(token.id);
  text.types = input.types;
  text.pixels = input.pixels;
  return text;
}

}  // namespace glassformer
