#include "kernels/kernels.hpp"
#include "layers/embed/embedding.hpp"
#include "layers/embed/positional_encoding.hpp"

namespace glassformer {

void embedding_backward(const Parameter& table, std::span<const std::int32_t> ids, float scale,
                        const ConstView& x, Tape& tape) {
  float* const of_table = tape.gradient(table);
  if (!of_table) return;
  const std::size_t d_model = x.shape(1);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    kernels().add_scaled(of_table + static_cast<std::size_t>(ids[i]) * d_model,
                         tape.gradient(&x(i, 0)), d_model, scale);
  }
}

void positions_backward(const Parameter& table, std::size_t first,
                        std::span<const std::size_t> positions, const ConstView& x, Tape& tape) {
  float* const of_table = tape.gradient(table);
  if (!of_table) return;
  const std::size_t d_model = x.shape(1);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    kernels().add_scaled(of_table + (first + positions[i]) * d_model, tape.gradient(&x(i, 0)),
                         d_model, 1.0f);
  }
}

}  // namespace glassformer
