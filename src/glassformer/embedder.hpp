#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "api/tasks/embed.hpp"
#include "families/config/token_pooling.hpp"
#include "glassformer/compute.hpp"
#include "glassformer/encoder_options.hpp"
#include "glassformer/error.hpp"
#include "glassformer/steering.hpp"
#include "glassformer/text_input.hpp"
#include "glassformer/tokens.hpp"

namespace glassformer {

class EmbedPipeline;

/// Maps a text to a vector. The angle between two vectors shows how similar the texts are. Any
/// number of threads may call it at a time.
class Embedder {
 public:
  /// Opens a model folder. Throws the same errors as Classifier::load.
  static Embedder load(const std::filesystem::path& folder, const LoadOptions& options = {});
  explicit Embedder(std::unique_ptr<EmbedPipeline> pipeline);
  Embedder(Embedder&&) noexcept;
  Embedder& operator=(Embedder&&) noexcept;
  ~Embedder();

  Compute compute() const;

  /// Embeds a text. Throws the same errors as Classifier::classify, and `non_finite` if a number of
  /// the vector is not finite.
  Embedded embed(std::string_view text, const EmbedOptions& options = {});

  /// Embeds several texts. An error in one text does not affect the others.
  std::vector<std::variant<Embedded, Error>> embed_batch(const Texts& texts,
                                                         const EmbedOptions& options = {});

  /// Returns the similarity of two vectors, as the folder says it is computed. Throws
  /// `invalid_option` if their sizes differ.
  float similarity(std::span<const float> a, std::span<const float> b) const;

  /// Returns the mean vector of one list of texts minus that of another (Rimsky et al. 2024).
  /// Throws `invalid_option` for a list without texts and for a tensor without a vector per token.
  SteeringVector steering_vector(const SteeringRequest& request, const Texts& toward,
                                 const Texts& away);

 private:
  std::unique_ptr<EmbedPipeline> pipeline_;
};

/// Returns the similarity of two vectors: by default, the cosine of the angle between them, -1 to
/// 1, or 0 if one of them is 0. Throws `invalid_option` if their sizes differ.
float similarity(std::span<const float> a, std::span<const float> b,
                 Similarity measure = Similarity::cosine);

}  // namespace glassformer
