#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/tokens.hpp"
#include "explain/circuits/circuit.hpp"
#include "explain/dictionaries/graph.hpp"
#include "explain/results.hpp"
#include "run/trace/traced_tensor.hpp"

namespace glassformer {

/// The next tokens that a decoder would choose before each layer, and after the last.
struct NextLens {
  std::vector<std::vector<std::vector<Guess>>> layers;  ///< [L + 1, T] best first
};

/// The reasons why a model prefers one next token over another.
struct NextLogitAttribution {
  Guess token, against;
  LogitAttribution attribution;  ///< of z_token - z_against
};

/// The gradients of one next token's lead over another, z_token - z_against.
struct NextGradientTensors {
  Guess token, against;
  std::vector<TracedTensor> gradients;  ///< each has the shape of its tensor
};

/// Σ_D e ⊙ ∂(z_token - z_against)/∂e of each token's embedding e.
struct NextGradientScores {
  Guess token, against;
  std::vector<float> scores;  ///< [T]
};

/// Integrated gradients of one next token's lead over another.
struct NextIntegratedGradients {
  Guess token, against;
  IntegratedGradients gradients;
};

/// The relevance of all tokens for one next token's lead over another.
struct NextRelevance {
  Guess token, against;
  Relevance relevance;
};

/// How much each token's values count for the row that predicts a next token.
struct NextZeroedValues {
  Guess token, against;
  ZeroedValues values;
};

/// The relevance of all tokens, as rules pass it back.
struct NextPropagatedRelevance {
  Guess token, against;
  PropagatedRelevance relevance;
};

/// A test of scores against the lead of one next token over another.
struct NextFaithfulness {
  Guess token, against;
  Faithfulness test;
};

/// The circuit that carries the difference between the next tokens of two texts.
struct NextEdgeCircuit {
  Guess token, against;
  EdgeCircuit circuit;
};

/// Why a next token comes, by features.
struct NextAttributionGraph {
  Guess token, against;
  AttributionGraph graph;
};

/// An explanation, and the text that it explains.
template <class Part>
struct Explanation {
  std::vector<InputToken> tokens;  ///< [T] the tokens that the model read
  bool clipped = false;            ///< whether the text was longer than the model's limit
  std::string label;               ///< for a classifier: the explained label
  Part part;
};

/// Options of Explainer::direct_logit_attribution.
struct LogitAttributionOptions {
  std::optional<std::string> label = {};  ///< to explain; default: the model's answer
  bool effects = false;                   ///< also measure the loss without each column
  bool loadings = false;                  ///< also tell what makes each head look where it looks
};

/// Options of Explainer::activation_patching.
struct ActivationPatchingOptions {
  std::optional<std::string> label = {};  ///< default: that of the base
  PatchingSite site = {};
};

/// The table of activation patching, and how the donor is aligned to the base.
struct PatchingResult {
  PatchingTable table;
  std::vector<InputToken> donor_tokens;
  std::vector<std::optional<std::size_t>> donor_of;  ///< per token of the base; empty: unpaired
  /// The position of each token in the runs. Both tokens of a pair have the same position.
  std::vector<std::size_t> base_columns, donor_columns;
};

/// The table of activation patching for what a model writes next: the number is the lead of one
/// token over another.
struct NextPatchingResult {
  /// Unset if the model writes the same after both texts: then nothing is measured.
  std::optional<Guess> token, against;
  std::optional<std::vector<std::int32_t>> prefix;  ///< of a translation: what both begin with
  PatchingResult patching;
};

/// Options of Explainer::faithfulness.
struct FaithfulnessOptions {
  std::vector<float> scores = {};  ///< one per token; empty: computed by `of`
  /// A method that gives each token one score, such as "rollout" or "relevance".
  std::string of = "rollout";
  std::optional<std::string> label = {};  ///< default: the model's answer
  std::size_t orders = 20;                ///< number of random orders
  std::uint32_t seed = 1;
};

/// Options of NextTokenExplainer::direct_logit_attribution.
struct NextAttributionOptions {
  std::optional<std::int32_t> token = {};    ///< to explain; default: the likeliest
  std::optional<std::int32_t> against = {};  ///< to compare with; default: the likeliest other
  bool effects = false;                      ///< also measure the loss without each column
  bool loadings = false;                     ///< also tell what makes each head look where it looks
};

/// Options of the methods of NextTokenExplainer that use gradients. Those of its
/// activation_patching have other defaults: the tokens in which the two texts' outputs differ.
struct NextPairOptions {
  std::optional<std::int32_t> token = {};    ///< to explain; default: the likeliest
  std::optional<std::int32_t> against = {};  ///< to compare with; default: the likeliest other
};

}  // namespace glassformer
