#pragma once

#include <map>
#include <vector>

#include "explain/readings/stream_ledger.hpp"

namespace glassformer {

/// Finds, for each head of an attribution, which parts of the model make it look where it looks,
/// and which it carries on:
///
/// - asks, answers [columns]: Σ_ij ∂y/∂score_ij · score_ij, of the way through this head alone, as
/// a
///   sum over what the rows of the queries, or of the keys, are made of. ∂y/∂score_ij = A_ij (v_j ·
///   g_i - Σ_k A_ik v_k · g_i), where g_i is the answer's gradient with respect to the head's
///   context: only differences between keys count. A part that grows by a small share changes y by
///   that share of its number.
/// - content [columns]: the head's own part of y, split by what the rows of the values are made of.
///
/// Of a head that reads an encoder, only `asks`: the parts of the others are those of the encoder.
class HeadLoadings {
 public:
  /// `trace`: has the tensors of loading_tensors, too. All arguments must outlive this.
  HeadLoadings(const ExplainedStack& of, std::span<const TracedTensor> trace, Session& session)
      : of_(of), trace_(trace), session_(session) {}

  /// Computes those of a layer's heads.
  void read(const StreamLedger::HeadGradients& gradients);
  /// Sets LogitAttribution::asks, answers and content.
  void add_to(LogitAttribution& attribution) const;

 private:
  struct Loading {
    std::vector<float> asks, answers = {}, content = {};  // the last two may be empty
  };

  ExplainedStack of_;
  std::span<const TracedTensor> trace_;
  Session& session_;
  std::map<std::string, Loading> by_head_;  // by the names of columns
};

/// Adds the names of the tensors that this reads to those of the attribution. Throws `unsupported`
/// for arithmetic in integers, and for a stack with other attention than softmax attention.
void add_loading_tensors(const ExplainedStack& of, Compute compute,
                         std::vector<std::string>& names);

}  // namespace glassformer
