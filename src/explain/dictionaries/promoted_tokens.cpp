#include "explain/dictionaries/promoted_tokens.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace glassformer {

std::vector<PromotedTokens> promoted_tokens(const LanguageModel& model,
                                            const Dictionary& dictionary,
                                            std::vector<std::int32_t> ids, std::size_t most,
                                            Session& session) {
  const Stack& stack = model.decoder().stack();
  const Norm* const norm = stack.layer_norm();
  const bool sums = std::ranges::all_of(stack.config().layers, [](const LayerConfig& layer) {
    return layer.norm == NormPlacement::pre && layer.residual && !layer.output_norms;
  });
  if (!norm || !sums || model.lm_head().in() != dictionary.config().d_model) return {};
  const std::size_t width = dictionary.config().d_model;
  std::vector<PromotedTokens> promoted;
  std::vector<float> row(width);
  AlignedBuffer logits(model.lm_head().out());
  for (std::size_t f = 0; f < dictionary.config().features; ++f) {
    std::ranges::copy(dictionary.direction(f), row.begin());
    const float sum = std::accumulate(row.begin(), row.end(), 0.0f);
    const float mean = norm->kind() == NormKind::rms ? 0 : sum / static_cast<float>(width);
    for (std::size_t c = 0; c < width; ++c) row[c] = norm->weight()[c] * (row[c] - mean);
    model.lm_head().multiply(const_view(row.data(), {1, width}),
                             view(logits.data(), {1, logits.size()}), session);
    const auto strongest = [&](float sign) {
      const auto end = ids.begin() + static_cast<std::ptrdiff_t>(std::min(most, ids.size()));
      std::ranges::partial_sort(ids, end, std::greater(), [&](std::int32_t id) {
        return sign * logits[static_cast<std::size_t>(id)];
      });
      return std::vector<std::int32_t>(ids.begin(), end);
    };
    promoted.push_back({strongest(1), strongest(-1)});
  }
  return promoted;
}

}  // namespace glassformer
