#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "api/tasks/match.hpp"
#include "glassformer/compute.hpp"
#include "glassformer/embedder.hpp"
#include "glassformer/encoder_options.hpp"
#include "glassformer/error.hpp"
#include "glassformer/image_classifier.hpp"

namespace glassformer {

class MatchPipeline;

/// Compares pictures with texts, and so finds the best of labels that it was not trained with
/// (Radford et al. 2021, "Learning Transferable Visual Models From Natural Language Supervision").
/// Any number of threads may call it at a time.
class ZeroShotImageClassifier {
 public:
  /// Opens a model folder, in this project's format or a published one. Throws the same errors as
  /// Classifier::load.
  static ZeroShotImageClassifier load(const std::filesystem::path& folder,
                                      const LoadOptions& options = {});
  explicit ZeroShotImageClassifier(std::unique_ptr<MatchPipeline> pipeline);
  ZeroShotImageClassifier(ZeroShotImageClassifier&&) noexcept;
  ZeroShotImageClassifier& operator=(ZeroShotImageClassifier&&) noexcept;
  ~ZeroShotImageClassifier();

  Compute compute() const;
  /// The factor by which the cosine of two vectors is multiplied for their logit.
  float scale() const;

  /// Finds the label whose text has the vector that is most similar to that of the picture. Throws
  /// the errors of ImageClassifier::classify, those of Embedder::embed for a label, and
  /// `invalid_option` for no labels or two that are the same.
  ImageMatch classify(const Picture& picture, const MatchOptions& options);

  /// Classifies several pictures, in fewer and larger steps. An error in one picture does not
  /// affect the others.
  std::vector<std::variant<ImageMatch, Error>> classify_batch(std::span<const Picture> pictures,
                                                              const MatchOptions& options);

  /// Returns the vector of a picture. `options.labels` must be empty.
  ImageMatch embed_image(const Picture& picture, const MatchOptions& options = {});

  /// Returns the vector of a text, of length 1. Throws the errors of Embedder::embed.
  Embedded embed_text(std::string_view text, const EncoderOptions& options = {});

 private:
  std::unique_ptr<MatchPipeline> pipeline_;
};

}  // namespace glassformer
