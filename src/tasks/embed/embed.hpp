#pragma once

#include <array>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "api/tasks/embed.hpp"
#include "base/error.hpp"
#include "tasks/embed/vectors.hpp"
#include "tasks/reading/encoder_pipeline.hpp"

namespace glassformer {

/// Maps a text to a vector whose angle to other vectors shows how similar the texts are.
class EmbedPipeline final : public EncoderPipeline {
 public:
  using Typed = Embedded;
  using Options = EmbedOptions;
  static constexpr std::array tasks = {Task::feature_extraction};

  /// Throws `wrong_task` unless the configuration describes a model for vectors, and the errors of
  /// InputReader.
  EmbedPipeline(ModelConfig config, std::unique_ptr<const Tokenizer> tokenizer,
                Compute compute = Compute::f32)
      : EncoderPipeline(std::move(config), tasks, std::move(tokenizer), compute) {}
  /// Does the same for a model that exists.
  EmbedPipeline(ModelConfig config, std::unique_ptr<const Tokenizer> tokenizer,
                std::shared_ptr<EncoderModel> model)
      : EncoderPipeline(std::move(config), tasks, std::move(tokenizer), std::move(model)) {}

  std::unique_ptr<Job> begin(const TaskInputs& inputs, const TaskOptions& options) override;
  std::unique_ptr<TypedJob<Embedded>> begin(std::span<const TextInput> texts,
                                            const EmbedOptions& options);

  /// Embeds a text. Throws the errors of InputReader and Batches, and `non_finite` if a number of
  /// the vector is not finite.
  Embedded embed(std::string_view text, const EmbedOptions& options = {});

  /// Embeds several texts. An error in one text does not affect the others.
  Results<Embedded> embed_batch(std::span<const std::string_view> texts,
                                const EmbedOptions& options = {});

  // Called by EncoderJob.
  std::vector<EncoderInput> read(const TextInput& text, const EmbedOptions& options) const;
  Embedded answer(std::vector<EncoderAnswer> windows, std::string_view text,
                  const EmbedOptions& options);
  void write_fields(ResultWriter& writer, Embedded& result) const { fields(writer, result); }

 private:
  /// Returns the prompt that is put before each text; may be empty. Throws `invalid_option`.
  std::string_view prompt_of(const EmbedOptions& options) const;
  std::size_t prompt_tokens(std::string_view prompt) const;
};

}  // namespace glassformer
