#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace glassformer {

/// How the users of a program write the names of options. Each program has one spelling.
enum class Spelling : std::uint8_t {
  cpp,     ///< .top_p
  flag,    ///< --top-p
  python,  ///< top_p
  script,  ///< topP
};

/// Sets the spelling of this program. At first: cpp. Call it before anything else.
void set_spelling(Spelling spelling);

/// Returns an option's name, or a path such as "patch[0].value", as the program's users write it.
std::string spelled(std::string_view name);
std::string spelled(std::string_view name, Spelling spelling);
/// Returns its key in the JSON that the program's users or bindings write: topP, or top_p.
std::string json_key(std::string_view name);

}  // namespace glassformer
