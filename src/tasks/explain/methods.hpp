#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/option.hpp"

namespace glassformer {

/// What is explained: a classifier's answer to a text or to a picture, a translation, or what a
/// model writes next.
enum class Answered { text, picture, translation, next_token };

/// What there is to know of a method of explanation, said once. Its options are fields of
/// ExplainRequest or NextGradientsRequest.
struct ExplanationMethod {
  std::string_view name;
  /// A sentence that begins with what the method computes, for somebody who knows Transformers.
  HelpText help;
  /// The names of its options, with spaces between, by Answered. Null: it does not explain that.
  /// Those that every method has are in common_options.
  std::array<const char*, 4> options;
  bool scores = false;     ///< whether it gives each token of a classifier's text one score
  bool gradients = false;  ///< whether it needs gradients

  bool explains(Answered answer) const { return options[static_cast<std::size_t>(answer)]; }
  /// Whether it has the option for this answer.
  bool has(Answered answer, std::string_view option) const;
};

/// The options of all methods, by Answered.
inline constexpr std::array<const char*, 4> common_options = {
    "", "interpolate size labels hypothesis_template", "from to", ""};

/// All methods, in the order in which help lists them.
std::span<const ExplanationMethod> explanation_methods();
/// Returns the method, or null if there is none of this name.
const ExplanationMethod* find_method(std::string_view name);
/// Returns the names of the methods that give each token of a classifier's text a score.
std::string list_score_methods();

/// Returns the method. Throws `invalid_option` unless it explains such answers; if `gradients` is
/// false, without gradients.
const ExplanationMethod& expect_method(const std::string& name, Answered answer, bool gradients);

}  // namespace glassformer
