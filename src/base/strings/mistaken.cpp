#include "base/strings/mistaken.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace glassformer {
namespace {

bool starts_with(std::string_view text, std::string_view lower_case) {
  if (text.size() < lower_case.size()) return false;
  return std::ranges::equal(text.substr(0, lower_case.size()), lower_case, {}, [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
}

}  // namespace

std::string_view mistaken_content(std::string_view start) {
  using namespace std::string_view_literals;
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kinds = {{
      {"version "sv,
       "expected the file itself, got a Git LFS pointer to it; run git lfs pull in the folder, or "
       "download the file again"sv},
      {"<!doctyp"sv,
       "expected the file itself, got a web page; download it by its raw address "
       "(…/resolve/main/…)"sv},
      {"<html"sv,
       "expected the file itself, got a web page; download it by its raw address "
       "(…/resolve/main/…)"sv},
      {"<?xml"sv,
       "expected the file itself, got XML, such as a server's error; download it again"sv},
      {"\x1F\x8B"sv,
       "expected the file itself, got a file that gzip compressed; run gunzip on it"sv},
  }};
  for (const auto& [begin, problem] : kinds) {
    if (starts_with(start, begin)) return problem;
  }
  return {};
}

}  // namespace glassformer
