#include "run/attention_map.hpp"

#include "tensor/sizes.hpp"

namespace glassformer {

std::vector<float> no_weights(std::size_t layers, std::size_t heads, std::size_t queries,
                              std::size_t keys) {
  return std::vector<float>(checked_product("attention weights", {layers, heads, queries, keys}));
}

}  // namespace glassformer
