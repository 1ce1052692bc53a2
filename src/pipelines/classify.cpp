#include "pipelines/classify.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.hpp"
#include "pipelines/limits.hpp"
#include "pipelines/special_tokens.hpp"

namespace glassformer {
namespace {

// Texts run together until a batch holds this many tokens: enough to keep the matrix products busy,
// small enough that the activations stay in the cache.
constexpr std::size_t batch_tokens = 512;

Error not_finite(const std::string& label, float logit) {
  return Error(ErrorCode::non_finite,
               "logits: expected finite numbers, got " +
                   std::string(std::isnan(logit) ? "NaN" : "infinity") + " for \"" + label +
                   "\": the model's weights lead out of the range of floats");
}

}  // namespace

ClassifyPipeline::ClassifyPipeline(ModelConfig config, std::unique_ptr<const Tokenizer> tokenizer,
                                   Compute compute)
    : config_(expect_task(std::move(config), Task::text_classification)),
      tokenizer_(std::move(tokenizer)),
      prefix_(ids_of(config_.prefix_tokens, "prefix_tokens", *tokenizer_)),
      suffix_(ids_of(config_.suffix_tokens, "suffix_tokens", *tokenizer_)),
      model_(config_.architecture, compute) {
  expect_vocabulary(*tokenizer_, "vocab_size", config_.encoder().vocab_size);
  expect_room(config_.encoder().max_length, prefix_.size() + suffix_.size());
}

ClassifyPipeline::Source ClassifyPipeline::read(std::string_view text) const {
  expect_text_size(max_text_bytes, text.size());
  const std::size_t room = config_.encoder().max_length - prefix_.size() - suffix_.size();
  const std::size_t head = config_.clip == Clip::middle ? room / 4 : room;

  Source source = {.tokens = {}, .clipped = false};
  std::vector<Token> pieces;
  const std::unique_ptr<TokenReader> reader = tokenizer_->read(text);
  for (bool more = true; more;) {
    more = reader->read(pieces);
    if (pieces.size() <= room) continue;
    source.clipped = true;
    more = more && head < room;
    // Behind the head, the last pieces so far stay.
    const auto behind = pieces.begin() + static_cast<std::ptrdiff_t>(head);
    pieces.erase(behind, behind + static_cast<std::ptrdiff_t>(pieces.size() - room));
  }
  if (pieces.empty()) {
    throw Error(ErrorCode::empty_input, "text: expected at least one token, got none");
  }
  source.tokens.reserve(prefix_.size() + pieces.size() + suffix_.size());
  for (std::int32_t id : prefix_) source.tokens.push_back({id, 0, 0});
  source.tokens.insert(source.tokens.end(), pieces.begin(), pieces.end());
  const std::uint32_t end = source.tokens.back().end;
  for (std::int32_t id : suffix_) source.tokens.push_back({id, end, end});
  return source;
}

void ClassifyPipeline::check(const ClassifyOptions& options) const {
  for (const HeadIndex& head : options.ablate) {
    if (head.attention != AttentionSite::encoder) {
      throw Error(ErrorCode::invalid_option, "ablate: expected heads of the encoder");
    }
    if (head.layer >= config_.encoder().layers || head.head >= config_.encoder().n_heads) {
      throw Error(ErrorCode::invalid_option,
                  "ablate: expected layers below " + std::to_string(config_.encoder().layers) +
                      " and heads below " + std::to_string(config_.encoder().n_heads) +
                      ", got layer " + std::to_string(head.layer) + ", head " +
                      std::to_string(head.head));
    }
  }
}

void ClassifyPipeline::check_masks(const ClassifyOptions& options, std::size_t tokens) const {
  for (std::size_t position : options.mask_tokens) {
    if (position >= tokens) {
      throw Error(ErrorCode::invalid_option, "maskTokens: expected positions below " +
                                                 std::to_string(tokens) + ", got " +
                                                 std::to_string(position));
    }
  }
  if (options.mask_tokens.empty()) return;
  std::vector<bool> masked(tokens, false);
  for (std::size_t position : options.mask_tokens) masked[position] = true;
  if (std::find(masked.begin(), masked.end(), false) == masked.end()) {
    throw Error(ErrorCode::invalid_option,
                "maskTokens: expected one token at least to stay, got all of them");
  }
  if (config_.architecture.head.pooling == Pooling::first && masked[0]) {
    throw Error(
        ErrorCode::invalid_option,
        "maskTokens: expected the first token to stay, from which this model answers, got 0");
  }
}

Classification ClassifyPipeline::classify(std::string_view text, const ClassifyOptions& options) {
  auto results = classify_batch(std::span(&text, 1), options);
  if (const Error* error = std::get_if<Error>(&results[0])) throw Error(*error);
  return std::get<Classification>(std::move(results[0]));
}

std::vector<std::variant<Classification, Error>> ClassifyPipeline::classify_batch(
    std::span<const std::string_view> texts, const ClassifyOptions& options) {
  check(options);
  std::vector<std::variant<Classification, Error>> results(texts.size());

  Batch batch;
  std::vector<Source> sources;
  std::vector<std::size_t> places;  // where in `results` each sequence of the batch belongs
  const auto run_batch = [&] {
    if (places.empty()) return;
    auto answers = run(batch, options, sources);
    for (std::size_t i = 0; i < places.size(); ++i) results[places[i]] = std::move(answers[i]);
    batch = Batch();
    sources.clear();
    places.clear();
  };

  AttentionBudget budget;
  std::vector<std::int32_t> ids;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    try {
      Source source = read(texts[i]);
      const std::size_t length = source.tokens.size();
      check_masks(options, length);
      if (options.attention) {
        budget.take(saturating_product(
            {config_.encoder().layers, config_.encoder().n_heads, length, length}));
      }
      if (batch.tokens() + source.tokens.size() > batch_tokens) run_batch();
      ids.clear();
      for (const Token& token : source.tokens) ids.push_back(token.id);
      batch.add(ids, options.mask_tokens);
      sources.push_back(std::move(source));
      places.push_back(i);
    } catch (const Error& error) {
      results[i] = error;
    }
  }
  run_batch();
  return results;
}

std::vector<std::variant<Classification, Error>> ClassifyPipeline::run(
    const Batch& batch, const ClassifyOptions& options, std::span<Source> sources) {
  const std::size_t classes = config_.labels.size();
  EncoderModel::Output output = model_(batch, {.attention = options.attention,
                                               .contributions = options.contributions,
                                               .ablate = options.ablate});
  std::vector<std::variant<Classification, Error>> results(batch.size());
  for (std::size_t s = 0; s < batch.size(); ++s) {
    const float* logits = &output.logits(s, 0);
    const auto infinite = std::find_if_not(logits, logits + classes,
                                           [](float logit) { return std::isfinite(logit); });
    if (infinite != logits + classes) {
      const auto label = static_cast<std::size_t>(infinite - logits);
      results[s] = not_finite(config_.labels[label], *infinite);
      continue;
    }
    auto& result = std::get<Classification>(results[s]);
    result.logits.assign(logits, logits + classes);
    result.scores = result.logits;
    const float sum = kernels().exponentials(result.scores.data(), classes, 1.0f);
    kernels().scale(result.scores.data(), result.scores.data(), classes, 1.0f / sum);
    result.label = static_cast<std::size_t>(
        std::max_element(result.logits.begin(), result.logits.end()) - result.logits.begin());
    result.tokens = std::move(sources[s].tokens);
    result.clipped = sources[s].clipped;
    if (options.attention) result.attention = std::move(output.attention[s]);
    if (options.contributions) {
      const float* first = &output.contributions(batch.start(s), 0);
      result.contributions.assign(first, first + batch.length(s) * classes);
    }
  }
  return results;
}

}  // namespace glassformer
