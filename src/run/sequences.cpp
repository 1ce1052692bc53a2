#include "run/sequences.hpp"

#include <algorithm>

namespace glassformer {

void Sequences::add(std::size_t length, std::span<const std::size_t> masked) {
  starts_.push_back(tokens() + length);
  longest_ = std::max(longest_, length);
  for (std::size_t position = 0; position < length; ++position) {
    if (std::find(masked.begin(), masked.end(), position) == masked.end()) {
      visible_.push_back(static_cast<std::uint32_t>(position));
    }
  }
  visible_starts_.push_back(visible_.size());
}

std::span<const std::uint32_t> Sequences::visible(std::size_t i) const {
  return std::span(visible_).subspan(visible_starts_[i],
                                     visible_starts_[i + 1] - visible_starts_[i]);
}

void Batch::add(std::span<const std::int32_t> ids, std::span<const std::size_t> masked,
                std::span<const std::int32_t> types) {
  Sequences::add(ids.size(), masked);
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  types_.insert(types_.end(), types.begin(), types.end());
  types_.resize(ids_.size());
}

}  // namespace glassformer
