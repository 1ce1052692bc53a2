#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "error.hpp"
#include "pipelines/encoder_pipeline.hpp"
#include "pipelines/vectors.hpp"

namespace glassformer {

struct EmbedOptions {
  EncoderOptions encoder = {};
  std::vector<TokenPooling> poolings = {};  ///< put side by side; none: as the model says
  std::optional<bool> normalize = {};       ///< to length 1; none: as the model says
};

/// {"pooling": "mean" | "cls" | "max" | "mean_sqrt_len" | [several], "normalize": bool} and what
/// EncoderOptions has, every field optional.
EmbedOptions parse_embed_options(std::string_view json);

struct Embedded {
  std::vector<float> embedding;  ///< [poolings · D]
  std::vector<Token> tokens;     ///< what the model read; offsets in UTF-16 units of the text
  bool clipped;                  ///< the text was longer than the model's limit
  std::optional<AttentionMap> attention;
  std::vector<TracedTensor> trace;
};

/// Text to a vector whose angle to others says how alike the texts are.
class EmbedPipeline final : public EncoderPipeline {
 public:
  using Typed = Embedded;

  /// Throws `wrong_task` unless the configuration describes a model that makes vectors; what
  /// InputReader throws.
  EmbedPipeline(ModelConfig config, std::unique_ptr<const Tokenizer> tokenizer,
                Compute compute = Compute::f32)
      : EncoderPipeline(std::move(config), Task::feature_extraction, std::move(tokenizer),
                        compute) {}

  std::unique_ptr<Job> begin(std::span<const std::string_view> texts, std::string_view options,
                             ResultForm form) override;

  /// Throws what InputReader and Work throw, and `non_finite` where a number of the vector is not
  /// finite.
  Embedded embed(std::string_view text, const EmbedOptions& options = {});

  /// The same for several texts. One text's error leaves the others' results alone.
  std::vector<std::variant<Embedded, Error>> embed_batch(std::span<const std::string_view> texts,
                                                         const EmbedOptions& options = {});

  // For EncoderJob.
  EncoderInput read(std::string_view text, const EmbedOptions&) const {
    return reader().read(text);
  }
  Embedded answer(EncoderAnswer answer, std::string_view text, const EmbedOptions& options) const;
  /// As text: the numbers with spaces between; or {embedding: [number], tokens, clipped,
  /// attention?, trace?}, the numbers as a tensor "embedding" beside it.
  Result to_result(Embedded result, ResultForm form) const;
};

}  // namespace glassformer
