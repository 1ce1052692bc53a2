#pragma once

#include <catch2/catch_test_macros.hpp>

#include "base/error.hpp"

namespace glassformer::test {

/// Returns the Error that an action throws.
template <class Action>
Error error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  FAIL("expected an Error");
  return Error(ErrorCode::internal, "");
}

}  // namespace glassformer::test
