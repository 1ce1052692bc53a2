#include "kernels/kernels.hpp"
#include "layers/pooling/pooling.hpp"

namespace glassformer {

void pooling_backward(const SequencePooling& pooling, const ConstView& x,
                      const Sequences& sequences, const ConstView& pooled, Tape& tape) {
  std::vector<float> weights(sequences.longest());
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    pooling.weigh(sequences, s, std::span(weights).first(sequences.length(s)));
    const float* const of_pooled = tape.gradient(&pooled(s, 0));
    for (std::size_t i = 0; i < sequences.length(s); ++i) {
      if (weights[i] == 0) continue;
      kernels().add_scaled(tape.gradient(&x(sequences.start(s) + i, 0)), of_pooled, x.shape(1),
                           weights[i]);
    }
  }
}

}  // namespace glassformer
