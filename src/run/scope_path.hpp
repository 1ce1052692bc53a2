#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace glassformer {

/// The path of a run's scopes, with which the names of its tensors begin:
/// "encoder.layers.2.self_attn.". Has a fixed size, so that entering a scope allocates nothing.
class ScopePath {
 public:
  /// Throws `internal` if the path gets longer than any model's.
  void enter(std::string_view scope);
  void leave() { size_ = before_[--depth_]; }

  std::string_view text() const { return {text_.data(), size_}; }
  std::string name(std::string_view tensor) const { return std::string(text()).append(tensor); }

 private:
  std::array<char, 64> text_ = {};
  std::array<std::size_t, 8> before_ = {};  // its length before each scope
  std::size_t size_ = 0, depth_ = 0;
};

}  // namespace glassformer
