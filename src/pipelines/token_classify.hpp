#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "error.hpp"
#include "pipelines/encoder_pipeline.hpp"
#include "pipelines/entities.hpp"

namespace glassformer {

struct TokenClassifyOptions {
  EncoderOptions encoder = {};
  Aggregation aggregation = Aggregation::none;
  std::vector<std::string> ignore_labels = {"O"};
};

/// {"aggregation": "none" | "simple" | "first" | "average" | "max", "ignoreLabels": [label]} and
/// what EncoderOptions has, every field optional.
TokenClassifyOptions parse_token_classify_options(std::string_view json);

struct TokenClassification {
  std::vector<Entity> entities;  ///< in the order of the text
  std::vector<Token> tokens;     ///< what the model read; offsets in UTF-16 units of the text
  bool clipped;                  ///< the text was longer than the model's limit
  std::optional<AttentionMap> attention;
  std::vector<TracedTensor> trace;
};

/// Text to the entities in it: names of people, places and the like.
class TokenClassifyPipeline final : public EncoderPipeline {
 public:
  using Typed = TokenClassification;

  /// Throws `wrong_task` unless the configuration describes a classifier of tokens; what
  /// InputReader throws.
  TokenClassifyPipeline(ModelConfig config, std::unique_ptr<const Tokenizer> tokenizer,
                        Compute compute = Compute::f32)
      : EncoderPipeline(std::move(config), Task::token_classification, std::move(tokenizer),
                        compute) {}

  std::unique_ptr<Job> begin(std::span<const std::string_view> texts, std::string_view options,
                             ResultForm form) override;

  /// Throws what InputReader and Work throw, and `non_finite` where a logit is not a finite number.
  TokenClassification classify(std::string_view text, const TokenClassifyOptions& options = {});

  /// The same for several texts. One text's error leaves the others' results alone.
  std::vector<std::variant<TokenClassification, Error>> classify_batch(
      std::span<const std::string_view> texts, const TokenClassifyOptions& options = {});

  // For EncoderJob.
  EncoderInput read(std::string_view text, const TokenClassifyOptions&) const {
    return reader().read(text);
  }
  TokenClassification answer(EncoderAnswer answer, std::string_view text,
                             const TokenClassifyOptions& options) const;
  /// As text: "ENTITY<tab>WORD<tab>SCORE" of each, with tabs between; or {entities: [{entity,
  /// score, word, start, end, index?}], tokens, clipped, attention?, trace?}.
  Result to_result(TokenClassification result, ResultForm form) const;
};

}  // namespace glassformer
