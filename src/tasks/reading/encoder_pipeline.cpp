#include "tasks/reading/encoder_pipeline.hpp"

#include <algorithm>
#include <cmath>

#include "models/whole_pass.hpp"
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
                       : !options.mask_tokens.empty() ? "maskTokens"
                                                      : nullptr;
  if (!option) return;
  const std::size_t tokens = windows.back().begin + windows.back().tokens.size();
  throw_error(ErrorCode::too_large,
              {"{}: expected a text of at most {} tokens, got {}; set window to \"first\" to read "
               "only a part of it",
               {option, windows[0].tokens.size(), tokens}});
}

EncoderPipeline::EncoderPipeline(ModelConfig config, std::span<const Task> accepted,
                                 std::unique_ptr<const Tokenizer> tokenizer, Compute compute)
    : config_(expect_task(std::move(config), accepted)),
      tokenizer_(std::move(tokenizer)),
      reader_(config_, *tokenizer_),
      model_(config_.architecture, compute) {}

EncoderPipeline::Batches::Batches(EncoderPipeline& pipeline, EncoderOptions options)
    : pipeline_(pipeline), options_(std::move(options)) {
  const StackConfig& stack = pipeline.config_.encoder();
  for (const HeadIndex& head : options_.ablate) {
    if (head.attention != AttentionSite::encoder)
      refuse_option("ablate: expected heads of the encoder");
    expect_head("ablate", head.layer, head.head, stack);
  }
  if (links_named_gradients && !options_.gradients.empty()) {
    expect_gradients(pipeline.model_.compute());
  } else if (links_named_gradients && options_.gradient_token) {
    refuse_option("gradientToken: expected it only with gradients");
  }
  TraceRequest request = {.attention = options_.attention,
                          .contributions = options_.contributions,
                          .names = options_.trace,
                          .patches = with_ablations(std::move(options_.patch), options_.ablate)};
  if (links_named_gradients) request.gradients = options_.gradients;
  plan_ = TracePlan(pipeline.model_, pipeline.session_, std::move(request));
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
    refuse_option(
        "maskTokens: expected positions above 0, as this model answers from the first token, got "
        "0");
  }
}

void EncoderPipeline::Batches::add(std::size_t text, EncoderInput input) {
  const std::size_t tokens = input.tokens.size();
  check_mask(tokens);
  plan_.expect_fit({.source = tokens});
  std::uint64_t numbers = plan_.numbers({.source = tokens});
  if (options_.attention) {
    const StackConfig& stack = pipeline_.config_.encoder();
    numbers += saturating_product({stack.layers.size(), stack.n_heads(), tokens, tokens});
  }
  budget_.take(numbers);
  inputs_.push_back({text, std::move(input)});
}

std::vector<std::pair<std::size_t, EncoderAnswer>> EncoderPipeline::Batches::run_batch() {
  Batch batch;
  const std::size_t first = next_;
  std::vector<std::int32_t> ids;
  for (; next_ < inputs_.size(); ++next_) {
    const EncoderInput& input = inputs_[next_].input;
    if (next_ > first && batch.tokens() + input.tokens.size() > batch_tokens) break;
    ids.clear();
    for (const Token& token : input.tokens) ids.push_back(token.id);
    batch.add(ids, options_.mask_tokens, input.types);
  }
  std::vector<std::pair<std::size_t, EncoderAnswer>> answers;
  if (batch.size() == 0) return answers;

  EncoderModel::Output output = pipeline_.model_(batch, plan_.request(), pipeline_.session_);
  const bool by_text = pipeline_.config_.architecture.head.kind == HeadKind::sequence_classes;
  const bool states = pipeline_.config_.architecture.head.kind == HeadKind::vectors;
  const Tensor& rows = states ? output.states : output.logits;
  for (std::size_t s = 0; s < batch.size(); ++s) {
    auto& [text, input] = inputs_[first + s];
    EncoderAnswer answer;
    answer.input = std::move(input);
    answer.columns = rows.shape(1);
    answer.rows = by_text ? rows_of(rows, s, 1) : rows_of(rows, batch.start(s), batch.length(s));
    if (options_.attention) answer.attention = std::move(output.attention[s]);
    if (!options_.trace.empty()) answer.trace = std::move(output.traces[s]);
    if (options_.contributions) {
      answer.contributions = rows_of(output.contributions, batch.start(s), batch.length(s));
    }
    if (links_named_gradients && !options_.gradients.empty()) {
      answer.gradients = gradients_for(answer.input);
    }
    answers.emplace_back(text, std::move(answer));
  }
  return answers;
}

std::vector<TracedTensor> EncoderPipeline::Batches::gradients_for(const EncoderInput& input) {
  Batch text;
  std::vector<std::int32_t> ids;
  for (const Token& token : input.tokens) ids.push_back(token.id);
  text.add(ids, options_.mask_tokens, input.types);
  const WholePass pass(std::move(text));
  TraceRequest patches;
  patches.patches = plan_.request().patches;
  const auto patching = make_tracer(patches, pass.sources(), pipeline_.config_.encoder());
  return gradients_of([&](Run& run) { return pass(pipeline_.model_, run); },
                      [&](const ConstView& logits) { return explained_(input, logits); },
                      options_.gradients, pipeline_.session_, patching.get(), patches.patches)
      .tensors;
}

}  // namespace glassformer
