#include "jinja/lexer.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/strings/utf8.hpp"
#include "jinja/letters.hpp"

namespace glassformer::jinja {
namespace {

constexpr auto none_found = std::string_view::npos;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

// Replaces "\r\n" and "\r" by "\n" and removes one line end at the end.
std::string with_plain_lines(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      text += source[i];
    } else if (i + 1 == source.size() || source[i + 1] != '\n') {
      text += '\n';
    }
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(with_plain_lines(source)), text_(source_) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) read_data();
    add(TokenKind::end, {});
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void fail(const Message& problem) const { fail_at(line_, problem); }

  bool sees(std::string_view text) const { return text_.substr(at_).starts_with(text); }

  void add(TokenKind kind, std::string text) { tokens_.push_back({kind, line_, std::move(text)}); }

  // Moves to a byte, counting the lines on the way.
  void move_to(std::size_t place) {
    line_ += static_cast<std::uint32_t>(
        std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                   text_.begin() + static_cast<std::ptrdiff_t>(place), '\n'));
    if (place > at_) ends_line_ = text_[place - 1] == '\n';
    at_ = place;
  }

  // Returns the first byte from `place` on that is not whitespace.
  std::size_t skip_space(std::size_t place) const {
    while (place < text_.size()) {
      std::size_t next = place;
      if (!is_space(next_character(text_, next))) break;
      place = next;
    }
    return place;
  }

  std::size_t trimmed_end(std::size_t begin, std::size_t end) const {
    while (end > begin) {
      std::size_t place = end - 1;
      while ((static_cast<unsigned char>(text_[place]) & 0xC0) == 0x80) --place;
      std::size_t next = place;
      if (!is_space(next_character(text_, next))) break;
      end = place;
    }
    return end;
  }

  // Adds the data between here and a tag at `tag`, which `sign` may tell to remove whitespace.
  void add_data(std::size_t tag, char sign, bool strips_line) {
    std::size_t end = tag;
    if (sign == '-') {
      end = trimmed_end(at_, tag);
    } else if (sign != '+' && strips_line) {
      // Whitespace alone between the beginning of a line and the tag.
      const std::size_t newline = text_.substr(at_, tag - at_).rfind('\n');
      if (newline != none_found || ends_line_) {
        const std::size_t line = newline == none_found ? at_ : at_ + newline + 1;
        if (trimmed_end(line, tag) == line) end = line;
      }
    }
    if (end > at_) add(TokenKind::data, std::string(text_.substr(at_, end - at_)));
    move_to(tag);
  }

  // Returns the sign at a byte, or 0.
  char sign_at(std::size_t place) const {
    const char c = place < text_.size() ? text_[place] : '\0';
    return c == '-' || c == '+' ? c : '\0';
  }

  // Returns the byte behind the end of a statement or comment, or none_found if there is none at
  // `place`.
  std::size_t tag_end(std::size_t place, std::string_view mark) const {
    const std::string_view rest = text_.substr(std::min(place, text_.size()));
    if (rest.starts_with(mark)) {
      const std::size_t end = place + mark.size();
      return end < text_.size() && text_[end] == '\n' ? end + 1 : end;
    }
    if (rest.empty() || !rest.substr(1).starts_with(mark)) return none_found;
    if (rest[0] == '+') return place + 1 + mark.size();
    if (rest[0] == '-') return skip_space(place + 1 + mark.size());
    return none_found;
  }

  // Returns the byte behind the tag {% raw %} whose sign is at `place`, or none_found.
  std::size_t raw_begin_end(std::size_t place) const {
    if (sign_at(place) != '\0') ++place;
    place = skip_space(place);
    if (!text_.substr(place).starts_with("raw")) return none_found;
    place = skip_space(place + 3);
    const std::string_view rest = text_.substr(place);
    if (rest.starts_with("-%}")) return skip_space(place + 3);
    return rest.starts_with("%}") ? place + 2 : none_found;
  }

  // Reads data up to the next tag, and the tag.
  void read_data() {
    std::size_t tag = at_;
    for (;; ++tag) {
      tag = text_.find('{', tag);
      if (tag == none_found || tag + 1 == text_.size()) {
        add(TokenKind::data, std::string(text_.substr(at_)));
        move_to(text_.size());
        return;
      }
      const char kind = text_[tag + 1];
      if (kind == '{' || kind == '%' || kind == '#') break;
    }
    const char kind = text_[tag + 1];
    const char sign = sign_at(tag + 2);
    add_data(tag, sign, kind != '{');
    const std::size_t begin = tag + 2 + (sign != '\0');
    if (kind == '#') {
      read_comment(begin);
    } else if (kind == '{') {
      add(TokenKind::print_begin, {});
      move_to(begin);
      read_tag(TokenKind::print_end);
    } else if (const std::size_t raw = raw_begin_end(tag + 2); raw != none_found) {
      move_to(raw);
      read_raw();
    } else {
      add(TokenKind::statement_begin, {});
      move_to(begin);
      read_tag(TokenKind::statement_end);
    }
  }

  void read_comment(std::size_t begin) {
    const std::size_t mark = text_.find("#}", begin);
    if (mark == none_found) fail("Missing end of comment tag");
    const bool has_sign = mark > begin && sign_at(mark - 1) != '\0';
    move_to(tag_end(has_sign ? mark - 1 : mark, "#}"));
  }

  void read_raw() {
    for (std::size_t tag = at_;; ++tag) {
      tag = text_.find("{%", tag);
      if (tag == none_found) fail("Missing end of raw directive");
      const char sign = sign_at(tag + 2);
      const std::size_t name = skip_space(tag + 2 + (sign != '\0'));
      if (!text_.substr(name).starts_with("endraw")) continue;
      const std::size_t end = tag_end(skip_space(name + 6), "%}");
      if (end == none_found) continue;
      add_data(tag, sign, true);
      move_to(end);
      return;
    }
  }

  // Reads the tokens of a tag up to its end.
  void read_tag(TokenKind end_kind) {
    std::string open;  // brackets
    while (at_ < text_.size()) {
      if (open.empty()) {
        std::size_t end = none_found;
        if (end_kind == TokenKind::statement_end) {
          end = tag_end(at_, "%}");
        } else if (sees("}}")) {
          end = at_ + 2;
        } else if (sees("-}}")) {
          end = skip_space(at_ + 3);
        }
        if (end != none_found) {
          add(end_kind, {});
          move_to(end);
          return;
        }
      }
      read_token(open);
    }
  }

  void read_token(std::string& open) {
    const std::size_t space = skip_space(at_);
    if (space > at_) {
      move_to(space);
      return;
    }
    const char c = text_[at_];
    if (is_digit(c)) {
      read_number();
    } else if (c == '\'' || c == '"') {
      read_string(c);
    } else if (const std::size_t end = name_end(at_); end > at_) {
      add(TokenKind::name, std::string(text_.substr(at_, end - at_)));
      move_to(end);
    } else {
      read_symbol(open);
    }
  }

  std::size_t name_end(std::size_t place) const {
    const std::size_t begin = place;
    while (place < text_.size()) {
      std::size_t next = place;
      const char32_t code = next_character(text_, next);
      const bool is_mark = code >= 0x80 && code != 0xB7 && !is_in_class(code, CharacterClass::word);
      if (is_mark || (code < 0x80 && !is_in_class(code, CharacterClass::word))) break;
      if (place == begin && code >= 0x80 && !is_in_class(code, CharacterClass::alpha)) break;
      place = next;
    }
    return place;
  }

  // Returns the end of digits with single underscores between them.
  std::size_t digits_end(std::size_t place, int base = 10) const {
    const auto digit_at = [&](std::size_t i) {
      return i < text_.size() && hex_digit(text_[i]) < base;
    };
    while (digit_at(place) || (place > 0 && place < text_.size() && text_[place] == '_' &&
                               hex_digit(text_[place - 1]) < base && digit_at(place + 1))) {
      ++place;
    }
    return place;
  }

  void add_number(TokenKind kind, std::size_t end) {
    std::string number(text_.substr(at_, end - at_));
    std::erase(number, '_');
    add(kind, std::move(number));
    move_to(end);
  }

  void read_number() {
    // In "a.0.1", the number behind the first point has no fraction.
    const bool follows_point = at_ > 0 && text_[at_ - 1] == '.';
    std::size_t end = digits_end(at_);
    if (!follows_point) {
      std::size_t place = end;
      const auto digit_at = [&](std::size_t i) { return i < text_.size() && is_digit(text_[i]); };
      if (place < text_.size() && text_[place] == '.' && digit_at(place + 1)) {
        place = digits_end(place + 1);
      }
      if (place < text_.size() && (text_[place] == 'e' || text_[place] == 'E')) {
        const std::size_t digits = place + 1 + (sign_at(place + 1) != '\0');
        if (digit_at(digits)) place = digits_end(digits);
      }
      if (place > end) {
        add_number(TokenKind::real, place);
        return;
      }
    }
    if (text_[at_] == '0') {
      const char letter = at_ + 1 < text_.size() ? static_cast<char>(text_[at_ + 1] | 0x20) : ' ';
      const int base = letter == 'b' ? 2 : letter == 'o' ? 8 : letter == 'x' ? 16 : 0;
      if (base != 0) {
        std::size_t digits = at_ + 2;
        if (digits < text_.size() && text_[digits] == '_') ++digits;
        const std::size_t last = digits_end(digits, base);
        if (last > digits) {
          add_number(TokenKind::integer, last);
          return;
        }
      }
      // A zero can only be followed by zeros.
      end = at_ + 1;
      for (;;) {
        const std::size_t next = end + (end < text_.size() && text_[end] == '_');
        if (next >= text_.size() || text_[next] != '0') break;
        end = next + 1;
      }
    }
    add_number(TokenKind::integer, end);
  }

  void read_string(char quote) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote) end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) fail({"unexpected char {}", {quoted_character(at_)}});
    add(TokenKind::string, unescaped(text_.substr(at_ + 1, end - at_ - 1)));
    move_to(end + 1);
  }

  std::string unescaped(std::string_view text) const {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
      if (text[at] != '\\') {
        result += text[at++];
        continue;
      }
      ++at;
      const char c = text[at];
      constexpr std::string_view letters = "\\'\"abfnrtv";
      if (const std::size_t i = letters.find(c); i != none_found) {
        result += "\\'\"\a\b\f\n\r\t\v"[i];
        ++at;
      } else if (c == '\n') {
        ++at;
      } else if (c >= '0' && c <= '7') {
        char32_t code = 0;
        for (int n = 0; n < 3 && at < text.size() && text[at] >= '0' && text[at] <= '7'; ++n) {
          code = code * 8 + static_cast<char32_t>(text[at++] - '0');
        }
        append_character(result, code);
      } else if (c == 'x' || c == 'u' || c == 'U') {
        ++at;
        append_escape(result, text, at, c == 'x' ? 2 : c == 'u' ? 4 : 8);
      } else if (c == 'N') {
        fail("names of characters (\\N) are not supported");
      } else if (static_cast<unsigned char>(c) < 0x80) {
        result += {'\\', c};
        ++at;
      } else {  // Python's conversion shows the number of the character
        const std::size_t begin = at;
        next_character(text, at);
        const std::string shown = escaped_character(text.substr(begin, at - begin));
        result += shown;
      }
    }
    return result;
  }

  void append_escape(std::string& result, std::string_view text, std::size_t& at,
                     std::size_t count) const {
    char32_t code = 0;
    for (std::size_t n = 0; n < count; ++n, ++at) {
      const int digit = at < text.size() ? hex_digit(text[at]) : 99;
      if (digit > 15) fail("truncated escape of a character in a string");
      code = code << 4 | static_cast<char32_t>(digit);
      if (code > 0x10FFFF) fail("illegal Unicode character in a string");
    }
    if (code >= 0xD800 && code < 0xE000) fail("surrogates (\\ud800) are not supported");
    append_character(result, code);
  }

  static std::string escaped_character(std::string_view character) {
    std::size_t at = 0;
    const char32_t code = next_character(character, at);
    const int digits = code < 0x100 ? 2 : code < 0x10000 ? 4 : 8;
    std::string text = digits == 2 ? "\\x" : digits == 4 ? "\\u" : "\\U";
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
      text += "0123456789abcdef"[code >> shift & 15];
    }
    return text;
  }

  std::string quoted_character(std::size_t place) const {
    std::size_t end = place;
    next_character(text_, end);
    return '\'' + std::string(text_.substr(place, end - place)) + '\'';
  }

  void read_symbol(std::string& open) {
    constexpr std::string_view symbols[] = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/",
                                            "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                            ">",  "<",  "=",  ".",  ":",  "|",  ",", ";"};
    const auto symbol = std::find_if(std::begin(symbols), std::end(symbols),
                                     [&](std::string_view text) { return sees(text); });
    if (symbol == std::end(symbols)) fail({"unexpected char {}", {quoted_character(at_)}});
    const char c = (*symbol)[0];
    if (c == '(' || c == '[' || c == '{') {
      open += c == '(' ? ')' : c == '[' ? ']' : '}';
    } else if (c == ')' || c == ']' || c == '}') {
      if (open.empty()) fail({"unexpected '{}'", {c}});
      if (open.back() != c) fail({"unexpected '{}', expected '{}'", {c, open.back()}});
      open.pop_back();
    }
    add(TokenKind::symbol, std::string(*symbol));
    move_to(at_ + symbol->size());
  }

  std::string source_;
  std::string_view text_;  // the same
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  bool ends_line_ = true;  // whether the text before here ends with a line end
  std::vector<Token> tokens_;
};

}  // namespace

void fail_at(std::uint32_t line, const Message& problem) {
  throw_error(ErrorCode::unsupported, {"chat_template: line {}: {}", {line, problem}});
}

std::vector<Token> tokenize(std::string_view source) { return Lexer(source).run(); }

}  // namespace glassformer::jinja
