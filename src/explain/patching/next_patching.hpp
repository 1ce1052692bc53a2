#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "explain/contrast.hpp"
#include "explain/next_token.hpp"
#include "explain/patching/token_alignment.hpp"
#include "explain/results.hpp"

namespace glassformer {

/// The stack whose vectors are replaced: that of the source, or that of a text to continue.
enum class PatchedStack { encoder, decoder };
const StackConfig& config_of(const WriterRunner& model, PatchedStack stack);

/// Two texts as that stack reads them, their alignment and their cells.
struct NextPatchingTexts {
  PatchedStack stack;
  std::vector<std::int32_t> base, donor;
  TokenAlignment alignment;
  std::vector<std::size_t> cells;  ///< the cell of each of the base's tokens, counted from 0
};

/// Activation patching for a model that writes: the number is the lead of one next token over
/// another. Each cell is a run of the base with the donor's vectors in it, which are the residual
/// stream before a layer, or after the last. A token without a donor is hidden as a key instead, in
/// that layer and all later ones. If the model has a table of positions and enough of them, both
/// runs have the alignment's columns as positions.
///
///     NextPatching patching(model, texts);
///     patching.read(decoded);                // runs both texts
///     patching.compare(contrast);            // chooses the number
///     while (patching.step()) {}
class NextPatching {
 public:
  NextPatching(const WriterRunner& model, NextPatchingTexts texts);

  /// The patches of positions in each text's run; empty if they are its own.
  const std::vector<Patch>& base_positions() const { return base_positions_; }
  const std::vector<Patch>& donor_positions() const { return donor_positions_; }

  /// Runs both texts. `decoded`: the tokens that the decoder reads after a source, beginning with
  /// its start token; empty for PatchedStack::decoder. Throws `non_finite`.
  void read(std::vector<std::int32_t> decoded);
  /// The logits [V] of both texts' next tokens.
  std::span<const float> base_logits() const { return base_logits_; }
  std::span<const float> donor_logits() const { return donor_logits_; }

  /// Sets the number to measure.
  void compare(Contrast contrast);
  /// Fills the table with estimates, until step() measures the cells; see
  /// ActivationPatching::preview. Throws `unsupported` if this program or the model has no
  /// gradients.
  void preview();
  /// Measures some cells of one row: at least one, and about `tokens` tokens together. Returns
  /// whether any are left.
  bool step(std::size_t tokens = 512);

  /// Its label is that of the contrast.
  const PatchingTable& table() const { return table_; }
  const TokenAlignment& alignment() const { return texts_.alignment; }

 private:
  NextTokenRun run(std::span<const std::int32_t> ids, std::span<const Patch> patches,
                   std::vector<std::string> names = {}) const;
  float number(std::span<const std::int32_t> ids, std::span<const Patch> patches) const;
  std::vector<Patch> positions_of(std::span<const std::size_t> columns) const;
  std::vector<Patch> patches_of(std::size_t row, std::size_t cell) const;
  void hide(const std::vector<std::size_t>& tokens, std::size_t from,
            std::vector<Patch>& patches) const;
  bool same_in_both(std::size_t row, std::size_t cell) const;

  std::string_view stack_name() const;
  const StackConfig& config() const { return config_of(model_, texts_.stack); }
  std::string row_name(std::size_t row) const;

  WriterRunner model_;
  NextPatchingTexts texts_;
  std::vector<Patch> base_positions_, donor_positions_;
  std::vector<std::int32_t> decoded_;
  std::vector<TracedTensor> base_, donor_;  // per row, [tokens, D]
  std::vector<float> base_logits_, donor_logits_;
  Contrast contrast_;
  PatchingTable table_;
};

}  // namespace glassformer
