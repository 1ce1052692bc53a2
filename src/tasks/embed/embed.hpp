#pragma once

#include <array>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "glassformer/embedder.hpp"
#include "tasks/embed/vectors.hpp"
#include "tasks/reading/encoder_pipeline.hpp"

namespace glassformer {

/// {"pooling": "mean" | "cls" | "max" | "mean_sqrt_len" | "weightedmean" | "lasttoken" | [several],
/// "normalize": bool, "prompt": string, "promptName": string} and what EncoderOptions has, every
/// field optional.
EmbedOptions parse_embed_options(const TaskOptions& task);

/// Text to a vector whose angle to others says how alike the texts are.
class EmbedPipeline final : public EncoderPipeline {
 public:
  using Typed = Embedded;
  static constexpr std::array tasks = {Task::feature_extraction};

  /// Throws `wrong_task` unless the configuration describes a model that makes vectors; what
  /// InputReader throws.
  EmbedPipeline(ModelConfig config, std::unique_ptr<const Tokenizer> tokenizer,
                Compute compute = Compute::f32)
      : EncoderPipeline(std::move(config), tasks, std::move(tokenizer), compute) {}

  std::unique_ptr<Job> begin(std::span<const TextInput> texts, const TaskOptions& options,
                             ResultForm form) override;

  /// Throws what InputReader and Work throw, and `non_finite` where a number of the vector is not
  /// finite.
  Embedded embed(std::string_view text, const EmbedOptions& options = {});

  /// The same for several texts. One text's error leaves the others' results alone.
  std::vector<std::variant<Embedded, Error>> embed_batch(std::span<const std::string_view> texts,
                                                         const EmbedOptions& options = {});

  // For EncoderJob.
  std::vector<EncoderInput> read(const TextInput& text, const EmbedOptions& options) const;
  Embedded answer(std::vector<EncoderAnswer> windows, std::string_view text,
                  const EmbedOptions& options);
  /// As text: the numbers with spaces between; or {embedding: [number], tokens, clipped,
  /// attention?, trace?}, the numbers as a tensor "embedding" beside it.
  Result to_result(Embedded result, ResultForm form) const;

 private:
  /// What is put before each text; may be empty. Throws `invalid_option`.
  std::string_view prompt_of(const EmbedOptions& options) const;
  std::size_t prompt_tokens(std::string_view prompt) const;
};

}  // namespace glassformer
