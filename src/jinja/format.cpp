#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/strings/utf8.hpp"
#include "jinja/evaluator.hpp"
#include "jinja/letters.hpp"
#include "jinja/numbers.hpp"
#include "jinja/texts.hpp"

namespace glassformer::jinja {
namespace {

constexpr std::int64_t max_precision = 10'000;
constexpr std::int64_t max_width = 100'000'000;

// Escapes all characters but those of ASCII, as Python's ascii().
std::string ascii_only(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t code = next_character(text, at);
    if (code < 0x80) {
      result += static_cast<char>(code);
      continue;
    }
    const int digits = code < 0x100 ? 2 : code < 0x10000 ? 4 : 8;
    result += digits == 2 ? "\\x" : digits == 4 ? "\\u" : "\\U";
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
      result += "0123456789abcdef"[code >> shift & 15];
    }
  }
  return result;
}

std::string in_base(std::uint64_t number, unsigned base) {
  std::string digits;
  do {
    digits.insert(digits.begin(), "0123456789abcdef"[number % base]);
    number /= base;
  } while (number > 0);
  return digits;
}

std::uint64_t magnitude_of(std::int64_t number) {
  return number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
}

std::string upper_ascii(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  return text;
}

// Formats the magnitude of a number with the letter e, f or g, in either case.
std::string real_digits(double number, char type, int precision) {
  const bool is_upper = type >= 'A' && type <= 'Z';
  std::string digits;
  if (!std::isfinite(number)) {
    digits = std::isnan(number) ? "nan" : "inf";
  } else if (type == 'e' || type == 'E') {
    digits = exponent_digits(number, precision);
  } else if (type == 'g' || type == 'G') {
    digits = general_digits(number, precision);
  } else {
    digits = fixed_digits(number, precision);
  }
  return is_upper ? upper_ascii(std::move(digits)) : digits;
}

// Puts a separator between groups of the digits before the point.
std::string grouped(std::string digits, char separator, std::size_t size) {
  const std::size_t end =
      std::min(digits.find_first_not_of("0123456789abcdefABCDEF"), digits.size());
  for (std::size_t place = end; place > size;) {
    place -= size;
    digits.insert(place, 1, separator);
  }
  return digits;
}

// Reads a number with at most nine digits.
std::int64_t read_number(Evaluator& evaluator, std::string_view text, std::size_t& at,
                         std::int64_t most) {
  std::int64_t number = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    number = number * 10 + (text[at] - '0');
    if (number > most)
      evaluator.fail_limit("characters or digits in a format", static_cast<std::uint64_t>(most));
  }
  return number;
}

// A specification of Python's format().
struct FormatSpec {
  FormatSpec(Evaluator& evaluator, std::string_view text) {
    std::size_t at = 0;
    if (!text.empty()) {
      std::size_t next = 0;
      next_character(text, next);
      constexpr std::string_view aligns = "<>=^";
      if (next < text.size() && aligns.find(text[next]) != text.npos) {
        filler = text.substr(0, next);
        align = text[next];
        has_filler = true;
        at = next + 1;
      } else if (aligns.find(text[0]) != text.npos) {
        align = text[0];
        at = 1;
      }
    }
    const auto skip = [&](char c) {
      const bool found = at < text.size() && text[at] == c;
      at += found;
      return found;
    };
    for (const char c : {'+', '-', ' '}) {
      if (sign == '\0' && skip(c)) sign = c;
    }
    if (skip('z')) evaluator.fail("the format option 'z' is not supported");
    is_alternate = skip('#');
    if (skip('0')) {
      is_zero_filled = true;
      if (!has_filler) filler = "0";
    }
    width = read_number(evaluator, text, at, max_width);
    if (skip(',')) grouping = ',';
    if (skip('_')) {
      if (grouping != '\0') evaluator.fail("Cannot specify both ',' and '_'.");
      grouping = '_';
    }
    if (skip('.')) {
      const std::size_t begin = at;
      precision = static_cast<int>(read_number(evaluator, text, at, max_precision));
      if (at == begin) evaluator.fail("Format specifier missing precision");
    }
    if (at < text.size()) type = text[at++];
    if (at < text.size()) evaluator.fail("Invalid format specifier");
  }

  std::string filler = " ";
  bool has_filler = false;
  char align = '\0';
  char sign = '\0';
  bool is_alternate = false;
  bool is_zero_filled = false;
  std::int64_t width = 0;
  char grouping = '\0';
  int precision = -1;
  char type = '\0';
};

class ValueFormatter {
 public:
  ValueFormatter(Evaluator& evaluator, const FormatSpec& spec)
      : evaluator_(evaluator), spec_(spec) {}

  std::string text(std::string_view value) const {
    if (spec_.type != '\0' && spec_.type != 's') fail_type("str");
    if (spec_.sign != '\0') evaluator_.fail("Sign not allowed in string format specifier");
    if (spec_.is_alternate) {
      evaluator_.fail("Alternate form (#) not allowed in string format specifier");
    }
    if (spec_.align == '=') evaluator_.fail("'=' alignment not allowed in string format specifier");
    if (spec_.grouping != '\0')
      evaluator_.fail({"Cannot specify '{}' with 's'.", {spec_.grouping}});
    if (spec_.precision >= 0) {
      std::size_t end = 0;
      for (int n = 0; n < spec_.precision && end < value.size(); ++n) next_character(value, end);
      value = value.substr(0, end);
    }
    return align({}, std::string(value), spec_.align == '\0' ? '<' : spec_.align);
  }

  std::string integer(std::int64_t value) const {
    const char type = spec_.type;
    if (type == 'e' || type == 'E' || type == 'f' || type == 'F' || type == 'g' || type == 'G' ||
        type == '%') {
      return real(static_cast<double>(value));
    }
    if (spec_.precision >= 0) {
      evaluator_.fail("Precision not allowed in integer format specifier");
    }
    std::string prefix;
    std::string digits;
    std::size_t group = 4;
    switch (type) {
      case '\0':
      case 'd':
      case 'n':
        digits = in_base(magnitude_of(value), 10);
        group = 3;
        break;
      case 'b':
        digits = in_base(magnitude_of(value), 2);
        prefix = "0b";
        break;
      case 'o':
        digits = in_base(magnitude_of(value), 8);
        prefix = "0o";
        break;
      case 'x':
        digits = in_base(magnitude_of(value), 16);
        prefix = "0x";
        break;
      case 'X':
        digits = upper_ascii(in_base(magnitude_of(value), 16));
        prefix = "0X";
        break;
      case 'c':
        evaluator_.fail("the format type 'c' is not supported");
      default:
        fail_type("int");
    }
    if (!spec_.is_alternate) prefix.clear();
    return number(value < 0, prefix, std::move(digits), group);
  }

  std::string real(double value) const {
    const char type = spec_.type;
    if (type != '\0' && std::string_view("eEfFgGn%").find(type) == std::string_view::npos) {
      fail_type("float");
    }
    if (spec_.is_alternate) evaluator_.fail("the format option '#' of floats is not supported");
    int precision = spec_.precision < 0 ? 6 : spec_.precision;
    const double magnitude = std::abs(value);
    std::string digits;
    if (type == '\0' && std::isfinite(value)) {
      digits = spec_.precision < 0 ? float_text(magnitude) : short_digits(magnitude);
    } else if (type == '%') {
      digits = real_digits(magnitude * 100, 'f', precision) + '%';
    } else {
      digits = real_digits(magnitude, type == 'n' || type == '\0' ? 'g' : type, precision);
    }
    return number(std::signbit(value) && !std::isnan(value), {}, std::move(digits), 3);
  }

 private:
  [[noreturn]] void fail_type(const char* type) const {
    evaluator_.fail({"Unknown format code '{}' for object of type '{}'", {spec_.type, type}});
  }

  // Formats without a type, but with a precision: like g, with at least one digit after the point.
  std::string short_digits(double magnitude) const {
    const int precision = std::max(spec_.precision, 1);
    std::string digits = general_digits(magnitude, precision);
    if (digits.find('e') != digits.npos || digits.find('.') != digits.npos) return digits;
    if (static_cast<int>(digits.size()) < precision || digits == "0") return digits + ".0";
    // Now the exponent is as large as the precision allows.
    std::string exponent = exponent_digits(magnitude, precision - 1);
    const std::size_t e = exponent.find('e');
    std::string mantissa = exponent.substr(0, e);
    if (mantissa.find('.') != mantissa.npos) {
      mantissa.resize(mantissa.find_last_not_of('0') + 1);
      if (mantissa.ends_with('.')) mantissa.pop_back();
    }
    return mantissa + exponent.substr(e);
  }

  std::string number(bool is_negative, const std::string& prefix, std::string digits,
                     std::size_t group) const {
    if (spec_.grouping == ',' && group == 4) evaluator_.fail("Cannot specify ',' with this type.");
    std::string sign = is_negative                              ? "-"
                       : spec_.sign == '+' || spec_.sign == ' ' ? std::string(1, spec_.sign)
                                                                : std::string();
    sign += prefix;
    char align_to = spec_.align;
    if (align_to == '\0') align_to = spec_.is_zero_filled ? '=' : '>';
    if (spec_.grouping != '\0') {
      if (align_to == '=' && spec_.filler == "0" && spec_.width > 0) {
        evaluator_.fail("groups of digits with leading zeros are not supported");
      }
      digits = grouped(std::move(digits), spec_.grouping, group);
    }
    return align(sign, std::move(digits), align_to);
  }

  std::string align(const std::string& sign, std::string body, char align_to) const {
    if (align_to == '=') {
      const auto rest = spec_.width - static_cast<std::int64_t>(sign.size());
      return sign + padded(evaluator_, body, rest, spec_.filler, Alignment::right);
    }
    body.insert(0, sign);
    if (align_to == '^') {  // the odd character is on the right
      const auto length = static_cast<std::int64_t>(character_count(body));
      const std::int64_t before = std::max<std::int64_t>(spec_.width - length, 0) / 2;
      body = padded(evaluator_, body, length + before, spec_.filler, Alignment::right);
      align_to = '<';
    }
    return padded(evaluator_, body, spec_.width, spec_.filler,
                  align_to == '<' ? Alignment::left : Alignment::right);
  }

  Evaluator& evaluator_;
  const FormatSpec& spec_;
};

// --- format % values

class PercentFormatter {
 public:
  PercentFormatter(Evaluator& evaluator, std::string_view format, const Value& values)
      : evaluator_(evaluator), format_(format), values_(values) {}

  std::string run() {
    while (at_ < format_.size()) {
      const std::size_t percent = std::min(format_.find('%', at_), format_.size());
      result_ += format_.substr(at_, percent - at_);
      at_ = percent;
      if (at_ < format_.size()) {
        ++at_;
        write_field();
      }
      evaluator_.step();
      evaluator_.expect_output(result_.size());
    }
    const bool has_names = values_.is(Kind::dict) || values_.is(Kind::list) ||
                           values_.is(Kind::range) || values_.is(Kind::name_space) ||
                           values_.is(Kind::undefined);
    const std::size_t given = values_.is(Kind::tuple) ? values_.items().size() : 1;
    if (next_ < given && !has_names) {
      evaluator_.fail("not all arguments converted during string formatting");
    }
    return std::move(result_);
  }

 private:
  char peek() const {
    if (at_ >= format_.size()) evaluator_.fail("incomplete format");
    return format_[at_];
  }

  const Value& next_value() {
    if (!values_.is(Kind::tuple)) {
      if (next_++ == 0) return values_;
    } else if (next_ < values_.items().size()) {
      return values_.items()[next_++];
    }
    evaluator_.fail("not enough arguments for format string");
  }

  void read_name() {
    if (!values_.is(Kind::dict)) evaluator_.fail("format requires a mapping");
    const std::size_t begin = ++at_;
    for (int open = 1; open > 0; ++at_) {
      if (at_ == format_.size()) evaluator_.fail("incomplete format key");
      open += format_[at_] == '(' ? 1 : format_[at_] == ')' ? -1 : 0;
    }
    const std::string_view name = format_.substr(begin, at_ - 1 - begin);
    named_ = values_.entries().find(name);
    if (!named_) evaluator_.fail({"missing key {} of a format", {quoted(name)}});
  }

  // Reads a width or a precision, which may be the next value.
  std::int64_t read_size(std::int64_t most) {
    if (peek() != '*') return read_number(evaluator_, format_, at_, most);
    ++at_;
    const Value& value = next_value();
    if (!value.is_integral()) evaluator_.fail("* wants int");
    const std::int64_t size = value.integer();
    if (size > most || size < -most) {
      evaluator_.fail_limit("characters or digits in a format", static_cast<std::uint64_t>(most));
    }
    return size;
  }

  void write_field() {
    named_ = nullptr;
    flags_.clear();
    if (peek() == '(') read_name();
    while (std::string_view("-+ #0").find(peek()) != std::string_view::npos)
      flags_ += format_[at_++];
    width_ = read_size(max_width);
    if (width_ < 0) {
      width_ = -width_;
      flags_ += '-';
    }
    precision_ = -1;
    if (peek() == '.') {
      ++at_;
      precision_ = static_cast<int>(std::max<std::int64_t>(read_size(max_precision), 0));
    }
    while (std::string_view("hlL").find(peek()) != std::string_view::npos) ++at_;
    const char type = format_[at_++];
    if (type == '%') {
      result_ += '%';
      return;
    }
    write_value(type, named_ ? *named_ : next_value());
  }

  bool has_flag(char flag) const { return flags_.find(flag) != flags_.npos; }

  void write_value(char type, const Value& value) {
    switch (type) {
      case 's':
      case 'r':
      case 'a':
        write_text(type == 's'   ? evaluator_.text(value)
                   : type == 'r' ? repr_of(evaluator_, value)
                                 : ascii_only(repr_of(evaluator_, value)));
        break;
      case 'c':
        write_character(value);
        break;
      case 'd':
      case 'i':
      case 'u':
      case 'o':
      case 'x':
      case 'X':
        write_integer(type, value);
        break;
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        write_real(type, value);
        break;
      default:
        evaluator_.fail({"unsupported format character {}", {quoted(std::string(1, type))}});
    }
  }

  void write_text(std::string text) {
    if (precision_ >= 0) {
      std::size_t end = 0;
      for (int n = 0; n < precision_ && end < text.size(); ++n) next_character(text, end);
      text.resize(end);
    }
    write_padded(text);
  }

  void write_character(const Value& value) {
    if (value.is_string() && value.text().length == 1) {
      write_padded(value.string());
      return;
    }
    const std::int64_t code = value.is(Kind::integer) ? value.integer() : -1;
    if (code < 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
      evaluator_.fail("%c requires int or char");
    }
    std::string text;
    append_character(text, static_cast<char32_t>(code));
    write_padded(text);
  }

  void write_integer(char type, const Value& value) {
    std::int64_t number = 0;
    const bool is_decimal = type == 'd' || type == 'i' || type == 'u';
    if (value.is_integral()) {
      number = value.integer();
    } else if (value.is_undefined()) {
      evaluator_.fail(undefined_message(value));
    } else if (!value.is(Kind::real) || !is_decimal) {
      evaluator_.fail({"%{} format: a number is required, not {}", {type, type_name(value)}});
    } else if (!truncate_to_integer(value.real(), number)) {
      evaluator_.fail("integers of more than 64 bits are not supported");
    }
    const unsigned base = is_decimal ? 10 : type == 'o' ? 8 : 16;
    std::string digits = in_base(magnitude_of(number), base);
    if (type == 'X') digits = upper_ascii(std::move(digits));
    if (precision_ > static_cast<int>(digits.size())) {
      digits.insert(0, static_cast<std::size_t>(precision_) - digits.size(), '0');
    }
    std::string prefix;
    if (has_flag('#') && !is_decimal) prefix = {'0', type};
    write_number(number < 0, prefix, digits);
  }

  void write_real(char type, const Value& value) {
    double number = 0;
    if (value.is(Kind::real)) {
      number = value.real();
    } else if (value.is_integral()) {
      number = static_cast<double>(value.integer());
    } else if (value.is_undefined()) {
      evaluator_.fail(undefined_message(value));
    } else {
      evaluator_.fail({"must be real number, not {}", {type_name(value)}});
    }
    if (has_flag('#')) evaluator_.fail("the format option '#' of floats is not supported");
    const int precision = precision_ < 0 ? 6 : precision_;
    write_number(std::signbit(number) && !std::isnan(number), {},
                 real_digits(std::abs(number), type, precision));
  }

  void write_number(bool is_negative, const std::string& prefix, const std::string& digits) {
    std::string sign = is_negative ? "-" : has_flag('+') ? "+" : has_flag(' ') ? " " : "";
    sign += prefix;
    if (has_flag('0') && !has_flag('-')) {
      const auto rest = width_ - static_cast<std::int64_t>(sign.size());
      write_padded(sign + padded(evaluator_, digits, rest, "0", Alignment::right));
    } else {
      write_padded(sign + digits);
    }
  }

  void write_padded(std::string_view text) {
    result_ +=
        padded(evaluator_, text, width_, " ", has_flag('-') ? Alignment::left : Alignment::right);
  }

  Evaluator& evaluator_;
  std::string_view format_;
  const Value& values_;
  std::size_t at_ = 0;
  std::size_t next_ = 0;  // value
  std::string result_;
  const Value* named_ = nullptr;
  std::string flags_;
  std::int64_t width_ = 0;
  int precision_ = -1;
};

// --- format.format(arguments)

class BraceFormatter {
 public:
  BraceFormatter(Evaluator& evaluator, const Arguments& arguments)
      : evaluator_(evaluator), arguments_(arguments) {}

  std::string run(std::string_view format, int depth = 0) {
    if (depth > 2) evaluator_.fail("Max string recursion exceeded");
    std::string result;
    for (std::size_t at = 0; at < format.size();) {
      const char c = format[at++];
      if (c != '{' && c != '}') {
        result += c;
        continue;
      }
      const bool is_double = at < format.size() && format[at] == c;
      if (is_double) {
        result += c;
        ++at;
        continue;
      }
      if (c == '}') evaluator_.fail("Single '}' encountered in format string");
      const std::size_t begin = at;
      for (int open = 1; open > 0; ++at) {
        if (at == format.size()) evaluator_.fail("expected '}' before end of string");
        open += format[at] == '{' ? 1 : format[at] == '}' ? -1 : 0;
      }
      result += field(format.substr(begin, at - 1 - begin), depth);
      evaluator_.step();
      evaluator_.expect_output(result.size());
    }
    return result;
  }

 private:
  std::string field(std::string_view text, int depth) {
    std::size_t end = 0;
    for (bool in_brackets = false; end < text.size(); ++end) {
      if (text[end] == '[') in_brackets = true;
      if (text[end] == ']') in_brackets = false;
      if (!in_brackets && (text[end] == '!' || text[end] == ':')) break;
    }
    const std::string_view name = text.substr(0, end);
    text.remove_prefix(end);
    char conversion = '\0';
    if (text.starts_with('!')) {
      if (text.size() < 2) evaluator_.fail("end of string while looking for conversion specifier");
      conversion = text[1];
      text.remove_prefix(2);
      if (!text.empty() && text[0] != ':')
        evaluator_.fail("expected ':' after conversion specifier");
    }
    if (!text.empty()) text.remove_prefix(1);
    Value value = value_of(name);
    if (conversion == 's') {
      value = evaluator_.string(evaluator_.text(value));
    } else if (conversion == 'r') {
      value = evaluator_.string(repr_of(evaluator_, value));
    } else if (conversion == 'a') {
      value = evaluator_.string(ascii_only(repr_of(evaluator_, value)));
    } else if (conversion != '\0') {
      evaluator_.fail({"Unknown conversion specifier {}", {quoted(std::string(1, conversion))}});
    }
    return format_value(evaluator_, value, run(text, depth + 1));
  }

  static bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  }

  Value indexed(std::string_view digits) const {
    std::int64_t index = 0;
    if (!parse_integer(evaluator_, digits, 10, index)) evaluator_.fail("invalid index");
    return index;
  }

  Value value_of(std::string_view name) {
    const std::size_t end = std::min(name.find_first_of(".["), name.size());
    Value value = first_value(name.substr(0, end), end == name.size());
    name.remove_prefix(end);
    while (!name.empty()) {
      const bool is_attribute = name[0] == '.';
      const std::size_t stop =
          is_attribute ? std::min(name.find_first_of(".[", 1), name.size()) : name.find(']');
      if (stop == name.npos) evaluator_.fail("Missing ']' in format string");
      const std::string_view part = name.substr(1, stop - 1);
      if (part.empty()) evaluator_.fail("Empty attribute in format string");
      const Value key =
          is_number(part) && !is_attribute ? indexed(part) : evaluator_.string(std::string(part));
      value = is_attribute ? evaluator_.attribute(value, key) : evaluator_.item(value, key);
      name.remove_prefix(is_attribute ? stop : stop + 1);
      if (!name.empty() && name[0] != '.' && name[0] != '[') {
        evaluator_.fail("Only '.' or '[' may follow ']' in format field specifier");
      }
    }
    return value;
  }

  Value first_value(std::string_view name, bool is_all) {
    const bool is_automatic = name.empty() && is_all;
    if (is_automatic || is_number(name)) {
      if (numbering_ != 0 && numbering_ != (is_automatic ? 1 : 2)) {
        evaluator_.fail("cannot switch between manual and automatic field numbering");
      }
      numbering_ = is_automatic ? 1 : 2;
      const auto index = is_automatic ? next_++ : static_cast<std::size_t>(indexed(name).integer());
      if (index >= arguments_.positional.size()) {
        evaluator_.fail({"Replacement index {} out of range for positional args tuple", {index}});
      }
      return arguments_.positional[index];
    }
    const Value* value = arguments_.find(name);
    if (!value) evaluator_.fail({"missing key {} of a format", {quoted(name)}});
    return *value;
  }

  Evaluator& evaluator_;
  const Arguments& arguments_;
  int numbering_ = 0;  // 1: automatic, 2: by number
  std::size_t next_ = 0;
};

}  // namespace

std::string format_value(Evaluator& evaluator, const Value& value, std::string_view specification) {
  if (specification.empty()) return evaluator.text(value);
  const bool is_formattable = value.is_number() || value.is_string();
  if (!is_formattable) {
    evaluator.fail({"unsupported format string passed to {}.__format__", {type_name(value)}});
  }
  const FormatSpec spec(evaluator, specification);
  const ValueFormatter formatter(evaluator, spec);
  if (value.is_string()) return formatter.text(value.string());
  return value.is(Kind::real) ? formatter.real(value.real()) : formatter.integer(value.integer());
}

std::string format_percent(Evaluator& evaluator, std::string_view format, const Value& values) {
  return PercentFormatter(evaluator, format, values).run();
}

std::string format_braces(Evaluator& evaluator, std::string_view format,
                          const Arguments& arguments) {
  return BraceFormatter(evaluator, arguments).run(format);
}

}  // namespace glassformer::jinja
