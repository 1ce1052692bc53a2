#include "models/stack/stack_input.hpp"

#include "base/error.hpp"

namespace glassformer {

void StackInput::operator()(const Batch&, View, const Run&) const {
  throw_error(ErrorCode::internal, "a stack's input: expected pictures, got tokens");
}

void StackInput::operator()(const Pictures&, View, const Run&) const {
  throw_error(ErrorCode::internal, "a stack's input: expected tokens, got pictures");
}

}  // namespace glassformer
