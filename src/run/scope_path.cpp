#include "run/scope_path.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace glassformer {

void ScopePath::enter(std::string_view scope) {
  const std::size_t size = size_ + scope.size() + 1;
  if (depth_ == before_.size() || size > text_.size()) {
    throw_error(ErrorCode::internal,
                {"a tensor's name: expected at most {} characters, got {}", {text_.size(), size}});
  }
  before_[depth_++] = size_;
  std::ranges::copy(scope, text_.begin() + static_cast<std::ptrdiff_t>(size_));
  text_[size - 1] = '.';
  size_ = size;
}

}  // namespace glassformer
