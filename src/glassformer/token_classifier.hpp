#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/tasks/tag.hpp"
#include "glassformer/compute.hpp"
#include "glassformer/encoder_options.hpp"
#include "glassformer/error.hpp"
#include "glassformer/steering.hpp"
#include "glassformer/text_input.hpp"
#include "glassformer/tokens.hpp"

namespace glassformer {

class TokenClassifyPipeline;

/// Finds the entities in a text. Any number of threads may call it at a time.
class TokenClassifier {
 public:
  /// Opens a model folder. Throws the same errors as Classifier::load.
  static TokenClassifier load(const std::filesystem::path& folder, const LoadOptions& options = {});
  explicit TokenClassifier(std::unique_ptr<TokenClassifyPipeline> pipeline);
  TokenClassifier(TokenClassifier&&) noexcept;
  TokenClassifier& operator=(TokenClassifier&&) noexcept;
  ~TokenClassifier();

  /// The labels, in the order of the model's outputs, such as "B-PER".
  const std::vector<std::string>& labels() const;
  Compute compute() const;

  /// Finds the entities. Throws the same errors as Classifier::classify. Throws `too_large` for a
  /// text of several windows if attention, traces, patches or masks are requested.
  TokenClassification classify(std::string_view text, const TokenClassifyOptions& options = {});

  /// Reads several texts. An error in one text does not affect the others.
  std::vector<std::variant<TokenClassification, Error>> classify_batch(
      const Texts& texts, const TokenClassifyOptions& options = {});

  /// Returns the mean vector of one list of texts minus that of another (Rimsky et al. 2024).
  /// Throws `invalid_option` for a list without texts and for a tensor without a vector per token.
  SteeringVector steering_vector(const SteeringRequest& request, const Texts& toward,
                                 const Texts& away);

 private:
  std::unique_ptr<TokenClassifyPipeline> pipeline_;
};

}  // namespace glassformer
