#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "api/label_score.hpp"
#include "api/tasks/classify.hpp"
#include "glassformer/compute.hpp"
#include "glassformer/encoder_options.hpp"
#include "glassformer/error.hpp"
#include "glassformer/steering.hpp"
#include "glassformer/text_input.hpp"
#include "glassformer/tokens.hpp"

namespace glassformer {

class ClassifyPipeline;

/// Assigns a label to a text, or to a pair of texts. Any number of threads may call it at a time.
class Classifier {
 public:
  /// Opens a model folder, in this project's format or a published one. Throws `wrong_task` for a
  /// model of another task, `missing_file`, `unsupported`, and other codes of ErrorCode for files
  /// that cannot be read.
  static Classifier load(const std::filesystem::path& folder, const LoadOptions& options = {});
  explicit Classifier(std::unique_ptr<ClassifyPipeline> pipeline);
  Classifier(Classifier&&) noexcept;
  Classifier& operator=(Classifier&&) noexcept;
  ~Classifier();

  /// The labels, in the order of the model's outputs.
  const std::vector<std::string>& labels() const;
  Compute compute() const;

  /// Classifies a text. Throws `empty_input` for a text without tokens, `too_large`,
  /// `invalid_option` for heads, tokens or options that do not exist, `unsupported` for two texts
  /// if the model reads one, and `non_finite` if a logit is not finite. Throws `too_large` for a
  /// text of several windows if attention, contributions, traces, patches or masks are requested,
  /// and for two texts that do not fit into one window.
  Classification classify(const TextInput& text, const ClassifyOptions& options = {});

  /// Classifies several texts, in fewer and larger steps. An error in one text does not affect the
  /// others.
  std::vector<std::variant<Classification, Error>> classify_batch(
      const TextInputs& texts, const ClassifyOptions& options = {});

  /// Returns the mean vector of one list of texts minus that of another (Rimsky et al. 2024).
  /// Throws `invalid_option` for a list without texts and for a tensor without a vector per token.
  SteeringVector steering_vector(const SteeringRequest& request, const Texts& toward,
                                 const Texts& away);

 private:
  std::unique_ptr<ClassifyPipeline> pipeline_;
};

}  // namespace glassformer
