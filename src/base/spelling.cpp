#include "base/spelling.hpp"

namespace glassformer {
namespace {

constinit Spelling chosen = Spelling::cpp;

}  // namespace

void set_spelling(Spelling spelling) { chosen = spelling; }

std::string spelled(std::string_view name) { return spelled(name, chosen); }

std::string json_key(std::string_view name) {
  return chosen == Spelling::script ? spelled(name) : std::string(name);
}

std::string spelled(std::string_view name, Spelling spelling) {
  if (spelling == Spelling::cpp) return "." + std::string(name);
  if (spelling == Spelling::python && name == "from") return "from_";  // a keyword
  std::string result = spelling == Spelling::flag ? "--" : "";
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '_' || spelling == Spelling::python) {
      result += name[i];
    } else if (spelling == Spelling::flag) {
      result += '-';
    } else if (++i < name.size()) {
      const char letter = name[i];
      result += letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
    }
  }
  return result;
}

}  // namespace glassformer
