#pragma once

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace glassformer::test {

// Checks that `call` throws an Error with this code and with `part` in its message.
template <typename Call>
void check_error(ErrorCode code, std::string_view part, Call call) {
  INFO("expected an error with: " << part);
  try {
    call();
    FAIL_CHECK("no error");
  } catch (const Error& error) {
    CHECK(to_string(error.code()) == to_string(code));
    CHECK_THAT(error.what(), Catch::Matchers::ContainsSubstring(std::string(part)));
  }
}

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

template <typename T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

}  // namespace glassformer::test
