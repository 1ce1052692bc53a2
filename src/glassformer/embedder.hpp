#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "glassformer/compute.hpp"
#include "glassformer/encoder_options.hpp"
#include "glassformer/error.hpp"
#include "glassformer/text_input.hpp"
#include "glassformer/tokens.hpp"

namespace glassformer {

class EmbedPipeline;

/// How one vector is made of a text's token vectors.
enum class TokenPooling {
  cls,            ///< the first token's
  max,            ///< the largest number in each dimension
  mean,           ///< their sum / n
  mean_sqrt_len,  ///< their sum / sqrt(n)
  weighted_mean,  ///< their mean, the k-th of them counted k times
  last_token,     ///< the last token's
};

/// What may be asked of an Embedder.
struct EmbedOptions {
  EncoderOptions encoder = {};
  std::vector<TokenPooling> poolings = {};  ///< put side by side; none: as the model says
  std::optional<bool> normalize = {};       ///< to length 1; none: as the model says
  /// A text that is put before each text, or the name of one that the folder has; both none: the
  /// folder's default, if it has one. At most one of both may be set.
  std::optional<std::string> prompt = {}, prompt_name = {};
};

/// A text of T tokens as a vector.
struct Embedded {
  std::vector<float> embedding;           ///< [poolings · d_model], or as the model's last module
  std::vector<InputToken> tokens;         ///< [T] what the model read
  bool clipped;                           ///< there was more than the model takes at once
  std::optional<AttentionMap> attention;  ///< [layers, heads, T, T], if asked for
  std::vector<TracedTensor> trace;        ///< what was asked for, in the order of the run
};

/// Text to a vector whose angle to others says how alike the texts are. It answers one call at a
/// time; use one per thread.
class Embedder {
 public:
  /// Opens a model folder. Throws what Classifier::load does.
  static Embedder load(const std::filesystem::path& folder, const LoadOptions& options = {});
  explicit Embedder(std::unique_ptr<EmbedPipeline> pipeline);
  Embedder(Embedder&&) noexcept;
  Embedder& operator=(Embedder&&) noexcept;
  ~Embedder();

  Compute compute() const;

  /// Throws what Classifier::classify does, and `non_finite` where a number of the vector is not
  /// finite.
  Embedded embed(std::string_view text, const EmbedOptions& options = {});

  /// The same for several texts. One text's error leaves the others' results alone.
  std::vector<std::variant<Embedded, Error>> embed_batch(const Texts& texts,
                                                         const EmbedOptions& options = {});

 private:
  std::unique_ptr<EmbedPipeline> pipeline_;
};

/// The cosine of the angle between two vectors, -1 to 1; 0 if one of them is 0. Throws
/// `invalid_option` for different sizes.
float similarity(std::span<const float> a, std::span<const float> b);

}  // namespace glassformer
