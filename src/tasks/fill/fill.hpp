#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "api/tasks/fill.hpp"
#include "tasks/reading/encoder_pipeline.hpp"

namespace glassformer {

/// Says which tokens may stand at the masks of a text.
class FillPipeline final : public EncoderPipeline {
 public:
  using Typed = FilledText;
  using Options = FillOptions;
  static constexpr std::array tasks = {Task::fill_mask};

  /// Throws `wrong_task` unless the configuration describes a masked language model,
  /// `invalid_tokenizer` if the vocabulary has no mask, and the errors of InputReader.
  FillPipeline(ModelConfig config, std::unique_ptr<const Tokenizer> tokenizer,
               Compute compute = Compute::f32);

  std::unique_ptr<Job> begin(const TaskInputs& inputs, const TaskOptions& options) override;
  std::unique_ptr<TypedJob<FilledText>> begin(std::span<const TextInput> texts,
                                              const FillOptions& options);

  /// Fills the masks of a text. Throws the errors of InputReader and Batches, `invalid_option` for
  /// a text without a mask, and `non_finite` if a logit is not a finite number.
  FilledText fill(std::string_view text, const FillOptions& options = {});

  /// Fills the masks of several texts. An error in one text does not affect the others.
  Results<FilledText> fill_batch(std::span<const std::string_view> texts,
                                 const FillOptions& options = {});

  std::string_view mask_token() const { return tokenizer().piece(mask_); }

  // Called by EncoderJob.
  std::vector<EncoderInput> read(const TextInput& text, const FillOptions& options) const;
  FilledText answer(std::vector<EncoderAnswer> windows, std::string_view text,
                    const FillOptions& options) const;
  AnswerTerms explained(const EncoderInput& input, const ConstView& logits,
                        const FillOptions& options) const;
  void write_fields(ResultWriter& writer, FilledText& result) const { fields(writer, result); }

 private:
  // Returns the ids of the targets, without repetitions. Throws `invalid_option` for one that is
  // not a single token.
  std::vector<std::int32_t> ids_of(std::span<const std::string> targets) const;
  // Returns the best tokens for the mask at `index`, from its logits [V].
  std::vector<FilledToken> best(const EncoderInput& input, std::size_t index,
                                std::span<const float> logits, const FillOptions& options) const;

  std::int32_t mask_;  // the token's id
};

}  // namespace glassformer
