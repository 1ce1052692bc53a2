#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/tasks/translate.hpp"
#include "glassformer/attention.hpp"
#include "glassformer/compute.hpp"
#include "glassformer/error.hpp"
#include "glassformer/output.hpp"
#include "glassformer/patch.hpp"
#include "glassformer/steering.hpp"
#include "glassformer/text_input.hpp"
#include "glassformer/tokens.hpp"

namespace glassformer {

class TranslatePipeline;

/// Translates a text, sentence by sentence. Any number of threads may call it at a time.
class Translator {
 public:
  /// Opens a model folder. Throws the same errors as Classifier::load, and `invalid_shortlist`.
  static Translator load(const std::filesystem::path& folder, const LoadOptions& options = {});
  explicit Translator(std::unique_ptr<TranslatePipeline> pipeline);
  Translator(Translator&&) noexcept;
  Translator& operator=(Translator&&) noexcept;
  ~Translator();

  /// A language code, such as "en", or "und" if the folder does not say.
  const std::string& source_language() const;
  const std::string& target_language() const;
  /// The codes of the languages that a multilingual model knows; empty for a model of one pair.
  std::vector<std::string> languages() const;
  Compute compute() const;

  /// Translates a text. Throws `empty_input` for a text without tokens, `too_large`,
  /// `invalid_option` for languages, beams, heads or layers that do not exist, and `non_finite` if
  /// a probability is not finite. A sentence over the model's limit is split at clauses or words,
  /// otherwise clipped.
  Translation translate(std::string_view text, const TranslateOptions& options = {});

  /// Translates several texts. An error in one text does not affect the others.
  std::vector<std::variant<Translation, Error>> translate_batch(
      const Texts& texts, const TranslateOptions& options = {});

  /// Translates a text and calls `on_step` for each token that adds to it; greedily, unless
  /// `options` says otherwise. With more than one beam, a step shows the leading hypothesis, and a
  /// later one may remove words. An exception from `on_step` ends the translation.
  Translation stream(std::string_view text, const std::function<void(TranslationStep)>& on_step,
                     const TranslateOptions& options = {.beams = 1});

  /// Returns the mean vector of one list of texts minus that of another (Rimsky et al. 2024).
  /// Throws `invalid_option` for a list without texts and for a tensor without a vector per token.
  SteeringVector steering_vector(const SteeringRequest& request, const Texts& toward,
                                 const Texts& away);

 private:
  std::unique_ptr<TranslatePipeline> pipeline_;
};

}  // namespace glassformer
