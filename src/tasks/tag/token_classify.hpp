#pragma once

#include <array>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "api/tasks/tag.hpp"
#include "base/error.hpp"
#include "tasks/reading/encoder_pipeline.hpp"
#include "tasks/tag/entities.hpp"

namespace glassformer {

/// Finds the entities in a text: names of people, places and the like.
class TokenClassifyPipeline final : public EncoderPipeline {
 public:
  using Typed = TokenClassification;
  using Options = TokenClassifyOptions;
  static constexpr std::array tasks = {Task::token_classification};

  /// Throws `wrong_task` unless the configuration describes a classifier of tokens, and the errors
  /// of InputReader.
  TokenClassifyPipeline(ModelConfig config, std::unique_ptr<const Tokenizer> tokenizer,
                        Compute compute = Compute::f32)
      : EncoderPipeline(std::move(config), tasks, std::move(tokenizer), compute) {}

  std::unique_ptr<Job> begin(const TaskInputs& inputs, const TaskOptions& options) override;
  std::unique_ptr<TypedJob<TokenClassification>> begin(std::span<const TextInput> texts,
                                                       const TokenClassifyOptions& options);

  /// Finds the entities of a text. Throws the errors of InputReader and Batches, and `non_finite`
  /// if a logit is not a finite number.
  TokenClassification classify(std::string_view text, const TokenClassifyOptions& options = {});

  /// Finds the entities of several texts. An error in one text does not affect the others.
  Results<TokenClassification> classify_batch(std::span<const std::string_view> texts,
                                              const TokenClassifyOptions& options = {});

  // Called by EncoderJob.
  std::vector<EncoderInput> read(const TextInput& text, const TokenClassifyOptions& options) const;
  TokenClassification answer(std::vector<EncoderAnswer> windows, std::string_view text,
                             const TokenClassifyOptions& options) const;
  AnswerTerms explained(const EncoderInput& input, const ConstView& logits,
                        const TokenClassifyOptions& options) const;
  void write_fields(ResultWriter& writer, TokenClassification& result) const {
    fields(writer, result);
  }

 private:
  // Throws `invalid_option` for a stride that does not fit.
  void check(const TokenClassifyOptions& options) const;
  std::vector<LabeledToken> labeled(const EncoderInput& input) const;
};

}  // namespace glassformer
