#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "explain/encoder_gradients.hpp"
#include "explain/next_gradients.hpp"

namespace glassformer {

/// The embeddings of the tokens that one stack reads, and where they begin.
struct EmbeddingsWay {
  TracedTensor rows;               ///< [T, D] by its name in the model
  std::vector<std::size_t> moved;  ///< the tokens whose embeddings change
  std::vector<float> start = {};   ///< [T, D] where they begin; empty: at zero
};

/// Integrated gradients (Sundararajan et al. 2017, equation 1) of token embeddings, from a baseline
/// e' to their values: (e - e') · the mean of ∂y/∂e along the way, at the midpoints of equal steps.
/// Positions, types and the other tokens keep their values.
class IntegratedGradientsSum {
 public:
  /// A model with a text and an explained number.
  class Subject {
   public:
    virtual ~Subject() = default;
    /// Returns the number and its gradients with respect to these tensors of token embeddings, if
    /// they are replaced by these patches.
    virtual Gradients gradients(const std::vector<std::string>& names,
                                std::vector<Patch> embeddings) const = 0;
  };

  IntegratedGradientsSum(std::vector<EmbeddingsWay> ways, std::unique_ptr<const Subject> subject);

  /// Computes the gradients at one point. If the sum misses the difference of the answers by more
  /// than 2 % after the last one, begins again with twice as many steps, up to 256. Returns whether
  /// anything is left.
  bool step();
  /// The scores are those of all tokens, stack by stack.
  IntegratedGradients take();

 private:
  void begin(std::size_t steps);
  Gradients gradients_with(float share) const;

  std::vector<EmbeddingsWay> ways_;
  std::vector<std::string> names_;  // of the embeddings
  std::unique_ptr<const Subject> subject_;
  double full_ = 0, empty_ = 0;  // the answers at both ends
  std::size_t steps_ = 0, next_ = 0;
  std::vector<double> sums_;  // per token, of the scores of all steps so far
};

/// Starts integrated gradients of a classifier's text, from zeros. The model must outlive the sum.
IntegratedGradientsSum integrate_gradients(const EncoderRunner& model, ExplainedText text,
                                           std::vector<std::size_t> moved, Contrast contrast);

/// The tokens whose embeddings change: of a decoder, and of its source.
struct MovedTokens {
  std::vector<std::size_t> decoder, encoder = {};
  /// The token whose embedding all of them begin with; unset: zeros.
  std::optional<std::int32_t> baseline = {};
};
/// Starts integrated gradients of a next token, [T + S]. The model and the text must outlive the
/// sum.
IntegratedGradientsSum integrate_gradients(const WriterRunner& model, const DecodedText& text,
                                           MovedTokens moved, Contrast contrast);

}  // namespace glassformer
