#pragma once

#include <optional>
#include <span>
#include <vector>

#include "explain/contrast.hpp"
#include "explain/explained_text.hpp"
#include "explain/patching/token_alignment.hpp"
#include "explain/results.hpp"

namespace glassformer {

/// Two texts, their alignment and their cells.
struct PatchingTexts {
  ExplainedText base, donor;
  TokenAlignment alignment;
  /// The cell of each of the base's tokens, counted from 0; empty: one cell per token.
  std::vector<std::size_t> cells = {};
};

/// Returns a table in which nothing is measured: its cells, and which of them have no donor.
/// `cells`: as in PatchingTexts.
PatchingTable empty_table(const TokenAlignment& aligned, std::span<const std::size_t> cells,
                          std::size_t rows);

/// Activation patching (Vig et al. 2020; Meng et al. 2022, "Locating and Editing Factual
/// Associations in GPT", section 2.1) for every layer and token: both texts run once, and each cell
/// resumes from its layer with the base's saved states and the donor's vector. With a corrupted
/// base and a clean donor, a high share means that the site is sufficient; the other way around,
/// that it is necessary (Heimersheim and Nanda 2024). Both runs use the alignment's columns as
/// positions. A token without a donor is knocked out instead: from that layer on it is neither
/// attended to nor pooled.
class ActivationPatching {
 public:
  /// Runs both texts. `label`: the label whose number is explained; default: that of the base.
  /// Throws `unsupported` unless the head has one logit per class of a text, and `invalid_option`
  /// if the head does not exist or the alignment takes more positions than the model has.
  ActivationPatching(const EncoderRunner& model, PatchingTexts texts, const PatchingSite& site,
                     std::optional<std::size_t> label = {});

  /// Fills the table with estimates, until step() measures the cells: y + ∂y/∂vector · (the donor's
  /// vector - the base's), from one run of the base and its gradients (attribution patching: Nanda
  /// 2023, "Attribution Patching: Activation Patching At Industrial Scale"). They are exact if the
  /// number is linear in the vector. A cell that knocks a token out has no estimate. Throws
  /// `unsupported` if this program or the model's arithmetic has no gradients.
  void preview();

  /// Fills some cells of one row: at least one, and about `tokens` tokens together. Returns whether
  /// any are left.
  bool step(std::size_t tokens = 512);

  const PatchingTable& table() const { return table_; }

 private:
  bool same_in_both(std::size_t row, std::size_t cell) const;
  std::optional<double> estimate(std::size_t row, std::size_t cell,
                                 std::span<const float> slopes) const;
  void run(std::size_t row, std::span<const std::size_t> cells);

  EncoderRunner model_;
  PatchingTexts texts_;
  PatchingSite site_;
  Contrast contrast_;
  Stream base_;
  std::vector<std::vector<float>> carried_;   // per row, the donor's tensor [tokens, columns]
  std::vector<std::vector<float>> replaced_;  // per row, the base's tensor
  PatchingTable table_;
};

}  // namespace glassformer
