#pragma once

#include <memory>
#include <vector>

#include "models/model.hpp"
#include "run/segments.hpp"

namespace glassformer {

/// Whole sequences that a model reads in one pass, to learn from them or to compute gradients: the
/// texts of an encoder, those of a decoder, or a decoder's with the source of each.
///
/// A decoder reads a text as if it had written it, every token at once ("teacher forcing": Williams
/// and Zipser 1989): row t reads the tokens up to t and predicts the next.
class WholePass {
 public:
  /// For a model without a decoder. The head reads only these rows of the states, or all of them if
  /// `rows` is empty.
  explicit WholePass(Batch texts, std::vector<std::size_t> rows = {});
  /// For a model that reads pictures.
  explicit WholePass(Pictures pictures);
  /// For a model without an encoder, `sources` has no sequences; otherwise one for each target.
  /// `rows`: the targets' tokens whose logits are computed; empty: all.
  WholePass(Batch sources, Batch targets, std::vector<std::size_t> rows = {});
  WholePass(const WholePass&) = delete;  // segments point to the batches
  WholePass& operator=(const WholePass&) = delete;

  /// Returns the logits, which are in the session's arena: [B, C] or [N, C] of a head, [N, V] of
  /// the targets' tokens; or the states [N, D] of a model without a head. Of chosen rows, N is
  /// their number. Throws `unsupported` for a decoder with recurrent units. This must outlive the
  /// run's tape.
  View operator()(const Model& model, Run& run) const;
  View operator()(const EncoderModel& model, Run& run) const;
  View operator()(const LanguageModel& model, Run& run) const;
  View operator()(const Seq2Seq& model, Run& run) const;

  /// Runs one block of the decoder, or of the encoder, on what enters it: x [N, D], in place.
  /// `states`: the encoder's, of all sources, or null.
  void decoder_block(const LanguageModel& model, std::size_t layer, const ConstView* states, View x,
                     Run& run) const;
  void encoder_block(const Seq2Seq& model, std::size_t layer, View x, Run& run) const;

  const Batch& sources() const { return sources_; }
  /// Returns what an encoder reads: the sources or the pictures.
  const Sequences& encoded() const {
    return pictures_ ? static_cast<const Sequences&>(*pictures_) : sources_;
  }
  std::span<const std::size_t> rows() const { return rows_; }
  const Batch& targets() const { return targets_; }

 private:
  static void read(const Sequences& batch, std::span<const RowSegment> segments, Run& run);
  void read_targets(Run& run) const;

  Batch sources_, targets_;
  std::unique_ptr<Pictures> pictures_;  // may be null
  std::vector<std::size_t> rows_;
  std::vector<RowSegment> source_segments_, target_segments_, cross_segments_;
};

}  // namespace glassformer
