#pragma once

#include <string>
#include <vector>

#include "explain/results.hpp"
#include "glassformer/attention.hpp"
#include "glassformer/compute.hpp"
#include "glassformer/error.hpp"
#include "glassformer/text_input.hpp"
#include "glassformer/tokens.hpp"
#include "run/trace/traced_tensor.hpp"

namespace glassformer {

/// The next tokens that a decoder would choose before each layer, and after the last.
struct NextLens {
  std::vector<std::vector<std::vector<Guess>>> layers;  ///< [L + 1, T] best first
};

/// The reasons why a model prefers one next token over another.
struct NextLedger {
  Guess token, against;
  Ledger ledger;  ///< of z_token - z_against
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

/// An explanation, and the text that it explains.
template <class Part>
struct Explanation {
  std::vector<InputToken> tokens;  ///< [T] the tokens that the model read
  bool clipped = false;            ///< whether the text was longer than the model's limit
  std::string label;               ///< for a classifier: the explained label
  Part part;
};

}  // namespace glassformer
