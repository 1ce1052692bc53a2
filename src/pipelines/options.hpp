#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "io/json.hpp"
#include "models/trace.hpp"

namespace glassformer {

/// Reads the options of a call, every one of which may be absent. Throws `invalid_option` naming
/// the option.
class OptionsReader : public JsonObject {
 public:
  /// `json` outlives this.
  explicit OptionsReader(std::string_view json);
  /// An option that is an object itself.
  OptionsReader(JsonValue value, std::string path);

  bool flag(const char* key) { return find(key) && boolean(key); }
  std::size_t index(const char* key, std::size_t least = 0);
  /// The indices in an array; `expected` says what they are.
  std::vector<std::size_t> indices(const char* key, std::string_view expected);
  /// The nonempty strings in an array.
  std::vector<std::string> names(const char* key);
  /// [{"attention": "encoder", "layer": int, "head": int}], of the first `sites` of encoder,
  /// decoder and cross.
  std::vector<HeadIndex> heads(const char* key, std::size_t sites);
};

}  // namespace glassformer
