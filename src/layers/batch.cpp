#include "layers/batch.hpp"

#include <algorithm>

namespace glassformer {

void Batch::add(std::span<const std::int32_t> ids, std::span<const std::size_t> masked) {
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  starts_.push_back(ids_.size());
  longest_ = std::max(longest_, ids.size());
  for (std::size_t position = 0; position < ids.size(); ++position) {
    if (std::find(masked.begin(), masked.end(), position) == masked.end()) {
      visible_.push_back(static_cast<std::uint32_t>(position));
    }
  }
  visible_starts_.push_back(visible_.size());
}

std::span<const std::int32_t> Batch::ids(std::size_t i) const {
  return std::span(ids_).subspan(starts_[i], length(i));
}

std::span<const std::uint32_t> Batch::visible(std::size_t i) const {
  return std::span(visible_).subspan(visible_starts_[i],
                                     visible_starts_[i + 1] - visible_starts_[i]);
}

}  // namespace glassformer
