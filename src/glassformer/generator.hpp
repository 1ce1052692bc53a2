#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "api/tasks/generate.hpp"
#include "glassformer/attention.hpp"
#include "glassformer/compute.hpp"
#include "glassformer/error.hpp"
#include "glassformer/output.hpp"
#include "glassformer/patch.hpp"
#include "glassformer/steering.hpp"
#include "glassformer/text_input.hpp"
#include "glassformer/tokens.hpp"

namespace glassformer {

class GeneratePipeline;
struct ChatConfig;

/// Generates a text's continuation, or a model's answer to it. Any number of threads may call it at
/// a time.
class Generator {
 public:
  /// Opens a model folder. Throws the same errors as Classifier::load.
  static Generator load(const std::filesystem::path& folder, const LoadOptions& options = {});
  explicit Generator(std::unique_ptr<GeneratePipeline> pipeline);
  Generator(Generator&&) noexcept;
  Generator& operator=(Generator&&) noexcept;
  ~Generator();

  Compute compute() const;

  /// Generates a continuation or an answer. An empty text is replaced by the folder's token for the
  /// start (`bos_token_id`). Throws `empty_input` for a text without tokens if there is no such
  /// token, `too_large`, `invalid_option` for options, tasks, heads or names that do not exist,
  /// `unsupported` or `invalid_config` for a task's settings, and `non_finite` if a probability is
  /// not finite. If a text has more tokens than the model has positions, the last ones are read: as
  /// many as leave enough positions for the new tokens, but at least half of the positions. An
  /// encoder reads the first ones.
  Generation generate(std::string_view text, const GenerateOptions& options = {});

  /// Generates from several texts. An error in one text does not affect the others.
  std::vector<std::variant<Generation, Error>> generate_batch(const Texts& texts,
                                                              const GenerateOptions& options = {});

  /// Generates as `generate` does and calls `on_step` for each token that adds to the text. With
  /// more than one beam, a step shows the leading hypothesis, and a later one may remove words. An
  /// exception from `on_step` ends the text.
  Generation stream(std::string_view text, const std::function<void(GenerationStep)>& on_step,
                    const GenerateOptions& options = {});

  /// Returns the tokens that may follow, and their probabilities.
  Prediction next(std::string_view text, const NextOptions& options = {});

  /// Returns the mean vector of one list of texts minus that of another (Rimsky et al. 2024).
  /// Throws `invalid_option` for a list without texts and for a tensor without a vector per token.
  SteeringVector steering_vector(const SteeringRequest& request, const Texts& toward,
                                 const Texts& away);

 private:
  friend class Chat;

  const ChatConfig& chat() const;

  std::unique_ptr<GeneratePipeline> pipeline_;
};

}  // namespace glassformer
