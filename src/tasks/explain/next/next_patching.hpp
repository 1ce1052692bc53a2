#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "explain/patching/next_patching.hpp"
#include "tasks/explain/explanation_job.hpp"
#include "tasks/explain/next/next_attribution.hpp"

// Activation patching between two texts that a model continues or translates.

namespace glassformer {

/// Two texts, and the next tokens that are compared after them.
struct PatchedPair {
  std::vector<InputToken> tokens, donor_tokens;  ///< of the patched stack
  bool clipped = false;
  NextPatching patching;
  std::optional<std::vector<std::int32_t>> prefix = {};  ///< of a translation: what both begin with
  std::optional<Guess> token = {}, against = {};         ///< unset: there is nothing to compare
};

/// Aligns two texts. A cell is a token or, if the base has more than 64 tokens, a word.
PatchedPair align_pair(const WriterRunner& model, PatchedStack stack,
                       std::vector<InputToken> tokens, std::vector<InputToken> donor_tokens);

/// Returns the tokens to compare, given the logits [V] of both next tokens: the most probable ones
/// of the donor and the base. If they are the same, those whose probabilities rise and fall most
/// from the base to the donor; empty if there is no difference.
NextAttributionOptions parting_tokens(std::span<const float> base, std::span<const float> donor);

/// Sets the number. What is not requested is `parting` or, if that is unset, parting_tokens of both
/// runs.
void compare(PatchedPair& pair, const NextTokenAttribution& attributions,
             const NextAttributionOptions& requested,
             std::optional<NextAttributionOptions> parting = {});

/// Returns the result; incomplete while cells are left.
NextPatchingResult result_of(const PatchedPair& pair);

/// Measures all cells of a pair. `shows`: the table is shown after each step, and the first step
/// estimates all cells if the model has gradients.
std::unique_ptr<ExplanationSteps> make_patching_steps(PatchedPair pair, bool shows);

}  // namespace glassformer
