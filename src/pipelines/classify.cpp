#include "pipelines/classify.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"
#include "pipelines/special_tokens.hpp"

namespace glassformer {
namespace {

// Texts run together until a batch holds this many tokens: enough to keep the matrix products busy,
// small enough that the activations stay in the cache.
constexpr std::size_t batch_tokens = 512;

}  // namespace

ClassifyPipeline::ClassifyPipeline(ModelConfig config, Tokenizer tokenizer, Compute compute)
    : config_(expect_task(std::move(config), "text-classification")),
      tokenizer_(std::move(tokenizer)),
      prefix_(ids_of(config_.prefix_tokens, "prefix_tokens", tokenizer_)),
      suffix_(ids_of(config_.suffix_tokens, "suffix_tokens", tokenizer_)),
      model_(config_, compute) {
  expect_vocabulary(tokenizer_, "vocab_size", config_.vocab_size);
  expect_room(config_.max_source_length, prefix_.size() + suffix_.size());
}

ClassifyPipeline::Source ClassifyPipeline::read(std::string_view text) const {
  const std::vector<Token> pieces = tokenizer_.encode(text);
  if (pieces.empty()) {
    throw Error(ErrorCode::empty_input, "text: expected at least one token, got none");
  }
  const std::size_t room = config_.max_source_length - prefix_.size() - suffix_.size();
  const std::size_t kept = std::min(room, pieces.size());
  const std::size_t head = config_.clip == Clip::middle ? kept / 4 : kept;
  const std::size_t tail = kept - head;

  Source source = {.tokens = {}, .clipped = kept < pieces.size()};
  source.tokens.reserve(prefix_.size() + kept + suffix_.size());
  for (std::int32_t id : prefix_) source.tokens.push_back({id, 0, 0});
  source.tokens.insert(source.tokens.end(), pieces.begin(),
                       pieces.begin() + static_cast<std::ptrdiff_t>(head));
  source.tokens.insert(source.tokens.end(), pieces.end() - static_cast<std::ptrdiff_t>(tail),
                       pieces.end());
  const std::uint32_t end = source.tokens.back().end;
  for (std::int32_t id : suffix_) source.tokens.push_back({id, end, end});
  return source;
}

void ClassifyPipeline::check(const ClassifyOptions& options) const {
  for (const HeadIndex& head : options.ablate) {
    if (head.attention != AttentionSite::encoder) {
      throw Error(ErrorCode::invalid_option, "ablate: expected heads of the encoder");
    }
    if (head.layer >= config_.encoder_layers || head.head >= config_.n_heads) {
      throw Error(ErrorCode::invalid_option,
                  "ablate: expected layers below " + std::to_string(config_.encoder_layers) +
                      " and heads below " + std::to_string(config_.n_heads) + ", got layer " +
                      std::to_string(head.layer) + ", head " + std::to_string(head.head));
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
  std::vector<bool> masked(tokens, false);
  for (std::size_t position : options.mask_tokens) masked[position] = true;
  if (std::find(masked.begin(), masked.end(), false) == masked.end()) {
    throw Error(ErrorCode::invalid_option,
                "maskTokens: expected one token at least to stay, got all of them");
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
    std::vector<Classification> answers(places.size());
    run(batch, options, sources, answers);
    for (std::size_t i = 0; i < places.size(); ++i) results[places[i]] = std::move(answers[i]);
    batch = Batch();
    sources.clear();
    places.clear();
  };

  std::vector<std::int32_t> ids;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    try {
      Source source = read(texts[i]);
      check_masks(options, source.tokens.size());
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

void ClassifyPipeline::run(const Batch& batch, const ClassifyOptions& options,
                           std::span<Source> sources, std::span<Classification> results) {
  const std::size_t classes = config_.labels.size();
  EncoderClassifier::Output output = model_(batch, {.capture = options.attention,
                                                    .contributions = options.contributions,
                                                    .ablate = options.ablate});
  for (std::size_t s = 0; s < batch.size(); ++s) {
    Classification& result = results[s];
    const float* logits = &output.logits(s, 0);
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
}

}  // namespace glassformer
