#include "api/text_input.hpp"

#include "base/error.hpp"

namespace glassformer {

std::string_view TextInput::alone() const {
  if (!pair) return text;
  throw_error(ErrorCode::invalid_option, "pair: expected one text for this task, got two");
}

}  // namespace glassformer
