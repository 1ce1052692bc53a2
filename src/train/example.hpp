#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "image/picture.hpp"

namespace glassformer {

/// One example to learn from, as token ids or a picture. An objective says what it reads.
struct Example {
  std::vector<std::int32_t> ids = {};     ///< the text, with special tokens
  std::vector<std::int32_t> types = {};   ///< per token, for models that distinguish texts
  std::vector<std::int32_t> target = {};  ///< of a translation: start token, pieces, end token
  std::unique_ptr<const Picture> picture = {};  ///< or a picture
  std::size_t patches = 0;                      ///< rows that a model makes of the picture
  std::int32_t label = 0;                       ///< the class of the text or picture
  std::vector<float> shares = {};               ///< or how much of each class it is, with sum 1
  std::vector<std::int32_t> labels = {};        ///< per token, its class; -1: none

  /// Returns the number of tokens or patches that a model reads.
  std::size_t tokens() const { return ids.size() + target.size() + patches; }
};

}  // namespace glassformer
