#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/option.hpp"
#include "tasks/explain/requests/method_options.hpp"

namespace glassformer {

/// What is explained: a classifier's answer to a text or to a picture, a translation, what a model
/// writes next, or what another encoder computes of a text.
enum class Answered { text, picture, translation, next_token, states };
inline constexpr std::array all_answered = {Answered::text, Answered::picture,
                                            Answered::translation, Answered::next_token,
                                            Answered::states};

inline constexpr PartSet not_explained = ~PartSet{0};
/// The options of all methods, by Answered. Labels are only for models that compare pictures with
/// them.
inline constexpr std::array<PartSet, 5> common_options = {0, set_of<PictureSize, MatchedLabels>,
                                                          set_of<Languages>, 0, 0};

/// What there is to know of a method of explanation, said once.
struct ExplanationMethod {
  std::string_view name;
  /// A sentence that begins with what the method computes, for somebody who knows Transformers.
  HelpText help;
  /// Its own options, by Answered; `not_explained` if it does not explain that.
  std::array<PartSet, 5> options;
  bool scores = false;        ///< whether it gives each token of a classifier's text one score
  bool gradients = false;     ///< whether it needs gradients
  bool dictionaries = false;  ///< whether it needs the model's dictionaries

  bool explains(Answered answer) const {
    return options[static_cast<std::size_t>(answer)] != not_explained;
  }
  /// Returns its options and the common ones.
  PartSet options_for(Answered answer) const {
    const auto index = static_cast<std::size_t>(answer);
    return options[index] | common_options[index];
  }
};

/// All methods, in the order in which help lists them.
std::span<const ExplanationMethod> explanation_methods();
/// Returns the method, or null if there is none of this name.
const ExplanationMethod* find_method(std::string_view name);
/// Returns the names of the methods that give each token of a classifier's text a score.
std::string list_score_methods();

/// Returns the names of options, in the order of documentation.
std::vector<std::string> option_names(PartSet parts);
/// Returns those that a method has for an answer. None if it does not explain that.
std::vector<std::string> option_names(const ExplanationMethod& method, Answered answer);

/// Returns the method. Throws `invalid_option` unless it explains such answers.
const ExplanationMethod& expect_method(const std::string& name, Answered answer);

}  // namespace glassformer
