#pragma once

#include <array>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "glassformer/token_classifier.hpp"
#include "tasks/reading/encoder_pipeline.hpp"
#include "tasks/tag/entities.hpp"

namespace glassformer {

/// {"aggregation": "none" | "simple" | "first" | "average" | "max", "ignoreLabels": [label],
/// "window": "all" | "first", "stride": int} and what EncoderOptions has, every field optional.
TokenClassifyOptions parse_token_classify_options(const TaskOptions& task);

/// Text to the entities in it: names of people, places and the like.
class TokenClassifyPipeline final : public EncoderPipeline {
 public:
  using Typed = TokenClassification;
  static constexpr std::array tasks = {Task::token_classification};

  /// Throws `wrong_task` unless the configuration describes a classifier of tokens; what
  /// InputReader throws.
  TokenClassifyPipeline(ModelConfig config, std::unique_ptr<const Tokenizer> tokenizer,
                        Compute compute = Compute::f32)
      : EncoderPipeline(std::move(config), tasks, std::move(tokenizer), compute) {}

  std::unique_ptr<Job> begin(std::span<const TextInput> texts, const TaskOptions& options,
                             ResultForm form) override;

  /// Throws what InputReader and Work throw, and `non_finite` where a logit is not a finite number.
  TokenClassification classify(std::string_view text, const TokenClassifyOptions& options = {});

  /// The same for several texts. One text's error leaves the others' results alone.
  std::vector<std::variant<TokenClassification, Error>> classify_batch(
      std::span<const std::string_view> texts, const TokenClassifyOptions& options = {});

  // For EncoderJob.
  std::vector<EncoderInput> read(const TextInput& text, const TokenClassifyOptions& options) const;
  TokenClassification answer(std::vector<EncoderAnswer> windows, std::string_view text,
                             const TokenClassifyOptions& options) const;
  /// As text: "ENTITY<tab>WORD<tab>SCORE" of each, with tabs between; or {entities: [{entity,
  /// score, word, start, end, index?}], tokens, windows, clipped, attention?, trace?}.
  Result to_result(TokenClassification result, ResultForm form) const;

 private:
  // Throws `invalid_option` for a stride that does not fit.
  void check(const TokenClassifyOptions& options) const;
  std::vector<LabeledToken> labeled(const EncoderInput& input) const;
};

}  // namespace glassformer
