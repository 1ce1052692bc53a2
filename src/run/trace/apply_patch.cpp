#include "run/trace/apply_patch.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace glassformer {
namespace {

// Returns the index of the replacement along an axis of the value, or nothing if it is not
// replaced.
std::optional<std::size_t> place_of(const Patch::Selection& chosen, std::size_t index,
                                    std::size_t extent) {
  if (!chosen) return index < extent ? std::optional(index) : std::nullopt;
  const auto found = std::ranges::find(*chosen, index);
  if (found == chosen->end()) return std::nullopt;
  return static_cast<std::size_t>(found - chosen->begin());
}

bool is_number(const Patch& patch) { return patch.shape.empty(); }

// Returns the size of an axis of the value. A single number fits every size.
std::size_t extent(const Patch& patch, std::size_t axis) {
  return is_number(patch) ? std::numeric_limits<std::size_t>::max() : patch.shape[axis];
}

// Calls visit(number, numbers of the value) for each selected head of a row.
template <class Visit>
void each_head(const Patch& patch, const CompleteRows& rows, std::size_t row, const Visit& visit) {
  const std::size_t all_heads = std::max<std::size_t>(rows.heads, 1);
  const std::size_t size = rows.columns / all_heads;
  for (std::size_t head = 0; head < all_heads; ++head) {
    const std::optional<std::size_t> own = place_of(patch.heads, head, all_heads);
    if (own) visit(rows.data + row * rows.stride + head * size, &patch.value[*own * size], size);
  }
}

void add_to_row(const Patch& patch, const CompleteRows& rows, std::size_t row) {
  each_head(patch, rows, row, [&](float* x, const float* value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) x[i] += patch.scale * value[i];
  });
}

void remove_from_row(const Patch& patch, const CompleteRows& rows, std::size_t row) {
  double product = 0, square = 0;
  each_head(patch, rows, row, [&](const float* x, const float* value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      product += static_cast<double>(x[i]) * static_cast<double>(value[i]);
      square += static_cast<double>(value[i]) * static_cast<double>(value[i]);
    }
  });
  const auto share = static_cast<float>(static_cast<double>(patch.scale) * product / square);
  each_head(patch, rows, row, [&](float* x, const float* value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) x[i] -= share * value[i];
  });
}

}  // namespace

void apply_to_row(const Patch& patch, const CompleteRows& rows, std::size_t row,
                  std::size_t position) {
  if (patch.kind != PatchKind::replace) {
    const bool of_sequence = rows.of == RowsOf::sequences;  // which has one row
    if (!of_sequence && (position < patch.from || !place_of(patch.tokens, position, SIZE_MAX))) {
      return;
    }
    return patch.kind == PatchKind::add ? add_to_row(patch, rows, row)
                                        : remove_from_row(patch, rows, row);
  }
  std::optional<std::size_t> from = 0;
  if (rows.of != RowsOf::sequences) from = place_of(patch.tokens, position, extent(patch, 0));
  if (!from) return;
  const std::size_t all_heads = std::max<std::size_t>(rows.heads, 1);
  const std::size_t size = rows.columns / all_heads;
  const std::size_t own_heads = rows.heads > 0 ? extent(patch, 1) : 1;
  for (std::size_t head = 0; head < all_heads; ++head) {
    const std::optional<std::size_t> own = place_of(patch.heads, head, own_heads);
    if (!own) continue;
    float* const to = rows.data + row * rows.stride + head * size;
    if (is_number(patch)) {
      std::fill_n(to, size, patch.value[0]);
    } else {
      std::copy_n(patch.value.data() + (*from * own_heads + *own) * size, size, to);
    }
  }
}

const float* find_value(const Patch& patch, const MapIndex& index) {
  const std::optional<std::size_t> head = place_of(patch.heads, index.head, extent(patch, 0));
  const std::optional<std::size_t> query = place_of(patch.tokens, index.query, extent(patch, 1));
  const std::optional<std::size_t> key = place_of(patch.keys, index.key, extent(patch, 2));
  if (!head || !query || !key) return nullptr;
  if (is_number(patch)) return patch.value.data();
  return &patch.value[(*head * patch.shape[1] + *query) * patch.shape[2] + *key];
}

Patch ablation(const HeadIndex& head) {
  Patch patch;
  patch.name = head.attention == AttentionSite::encoder ? "encoder.layers." : "decoder.layers.";
  patch.name += std::to_string(head.layer);
  patch.name += head.attention == AttentionSite::cross ? ".encoder_attn" : ".self_attn";
  patch.name += ".context";
  patch.heads = {head.head};
  patch.value = {0.0f};
  return patch;
}

}  // namespace glassformer
