#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace glassformer::jinja {

enum class TokenKind : std::uint8_t {
  data,  ///< text outside of tags
  statement_begin,
  statement_end,
  print_begin,
  print_end,
  name,
  integer,
  real,
  string,
  symbol,  ///< an operator or punctuation
  end,     ///< of the template
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::uint32_t line = 1;
  std::string text;  ///< of strings and data: their value

  bool is_symbol(std::string_view symbol) const {
    return kind == TokenKind::symbol && text == symbol;
  }
  bool is_name(std::string_view name) const { return kind == TokenKind::name && text == name; }
};

/// Splits a template, which must be UTF-8, into tokens. Removes comments and the whitespace that
/// the marks - and + and the rules trim_blocks and lstrip_blocks of jinja2 exclude. Throws
/// `unsupported` with the line.
std::vector<Token> tokenize(std::string_view source);

/// Throws `unsupported` because of a line of the template.
[[noreturn]] void fail_at(std::uint32_t line, const Message& problem);

}  // namespace glassformer::jinja
