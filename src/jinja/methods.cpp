#include <algorithm>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings/utf8.hpp"
#include "jinja/evaluator.hpp"
#include "jinja/letters.hpp"
#include "jinja/texts.hpp"

namespace glassformer::jinja {
namespace {

bool is_passed(const Value& value) { return !value.is_missing() && !value.is_none(); }

std::string_view text_argument(Evaluator& evaluator, const Value& value) {
  if (value.is_undefined()) evaluator.fail(undefined_message(value));
  if (!value.is_string()) {
    evaluator.fail({"expected a text as argument, got a value of type '{}'", {type_name(value)}});
  }
  return value.string();
}

// Returns the result of a method. Methods of escaped text escape their arguments, which is only
// supported if that makes no difference.
Value text_result(Evaluator& evaluator, const Value& object, std::string text) {
  return evaluator.string_like(object, std::move(text));
}

void refuse_markup(Evaluator& evaluator, const Value& object) {
  if (is_markup(object)) evaluator.fail("this method of escaped text is not supported");
}

// The part of a text that the arguments `start` and `end` of some methods select.
struct Window {
  Window(Evaluator& evaluator, const Value& object, const Value& start, const Value& end) {
    const Text& text = object.text();
    const auto length = static_cast<std::int64_t>(text.length);
    const auto place = [&](const Value& value, std::int64_t otherwise) {
      if (!is_passed(value)) return otherwise;
      const std::int64_t i = evaluator.integer_of(value);
      return std::max<std::int64_t>(i < 0 ? i + length : i, 0);
    };
    const std::int64_t from = place(start, 0);
    const std::int64_t to = std::min(place(end, length), length);
    evaluator.scan(text.bytes.size());
    is_valid = from <= to;
    if (!is_valid) return;
    begin = byte_of(text, static_cast<std::size_t>(from));
    part = std::string_view(text.bytes)
               .substr(begin, byte_of(text, static_cast<std::size_t>(to)) - begin);
  }

  bool is_valid;
  std::size_t begin = 0;  // in bytes
  std::string_view part;
};

// --- Methods of texts

template <LetterCase to>
Value text_case(Evaluator& evaluator, Value* values, const Arguments&) {
  evaluator.scan(values[0].string().size() * 8);
  return text_result(evaluator, values[0], convert_case(values[0].string(), to));
}

bool is_all_in_class(Evaluator& evaluator, std::string_view text, CharacterClass what) {
  evaluator.scan(text.size() * 8);
  if (what == CharacterClass::lower) return is_text_in_case(text, what, CharacterClass::upper);
  if (what == CharacterClass::upper) return is_text_in_case(text, what, CharacterClass::lower);
  for (std::size_t at = 0; at < text.size();) {
    if (!is_in_class(next_character(text, at), what)) return false;
  }
  return !text.empty() || what == CharacterClass::ascii || what == CharacterClass::printable;
}

template <CharacterClass what>
Value text_is(Evaluator& evaluator, Value* values, const Arguments&) {
  return is_all_in_class(evaluator, values[0].string(), what);
}

Value text_istitle(Evaluator& evaluator, Value* values, const Arguments&) {
  const std::string_view text = values[0].string();
  evaluator.scan(text.size() * 8);
  bool has_cased = false;
  bool in_word = false;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t code = next_character(text, at);
    const bool starts =
        is_in_class(code, CharacterClass::upper) || is_in_class(code, CharacterClass::title);
    const bool continues = is_in_class(code, CharacterClass::lower);
    if (starts ? in_word : continues && !in_word) return false;
    in_word = starts || continues;
    has_cased |= in_word;
  }
  return has_cased;
}

Value text_isidentifier(Evaluator& evaluator, Value* values, const Arguments&) {
  const std::string_view text = values[0].string();
  evaluator.scan(text.size() * 8);
  for (std::size_t at = 0; at < text.size();) {
    const bool is_first = at == 0;
    const char32_t code = next_character(text, at);
    if (code >= 0x80) evaluator.fail("isidentifier() is only supported for ASCII");
    const bool is_digit = code >= '0' && code <= '9';
    if (!is_in_class(code, CharacterClass::word) || (is_first && is_digit)) return false;
  }
  return !text.empty();
}

Value text_aligned(Evaluator& evaluator, Value* values, Alignment alignment) {
  const std::string_view filler =
      values[2].is_missing() ? " " : text_argument(evaluator, values[2]);
  if (character_count(filler) != 1) {
    evaluator.fail("The fill character must be exactly one character long");
  }
  return text_result(
      evaluator, values[0],
      padded(evaluator, values[0].string(), evaluator.integer_of(values[1]), filler, alignment));
}

template <Alignment alignment>
Value text_padded(Evaluator& evaluator, Value* values, const Arguments&) {
  return text_aligned(evaluator, values, alignment);
}

Value text_zfill(Evaluator& evaluator, Value* values, const Arguments&) {
  std::string_view text = values[0].string();
  const std::int64_t width = evaluator.integer_of(values[1]);
  std::string sign;
  if (text.starts_with('+') || text.starts_with('-')) {
    sign = text.substr(0, 1);
    text.remove_prefix(1);
  }
  const std::int64_t rest =
      std::max<std::int64_t>(width, 0) - static_cast<std::int64_t>(sign.size());
  return text_result(evaluator, values[0],
                     sign + padded(evaluator, text, rest, "0", Alignment::right));
}

Value text_find(Evaluator& evaluator, Value* values, bool is_last, bool must_exist) {
  const std::string_view wanted = text_argument(evaluator, values[1]);
  const Window window(evaluator, values[0], values[2], values[3]);
  std::size_t place = std::string_view::npos;
  if (window.is_valid) {
    const Finder finder(evaluator, wanted);
    place = is_last ? finder.find_last(window.part, window.part.size()) : finder.find(window.part);
  }
  if (place == std::string_view::npos) {
    if (must_exist) evaluator.fail("substring not found");
    return std::int64_t{-1};
  }
  return evaluator.count(character_count(values[0].string().substr(0, window.begin + place)));
}
Value text_find_first(Evaluator& evaluator, Value* values, const Arguments&) {
  return text_find(evaluator, values, false, false);
}
Value text_rfind(Evaluator& evaluator, Value* values, const Arguments&) {
  return text_find(evaluator, values, true, false);
}
Value text_index(Evaluator& evaluator, Value* values, const Arguments&) {
  return text_find(evaluator, values, false, true);
}
Value text_rindex(Evaluator& evaluator, Value* values, const Arguments&) {
  return text_find(evaluator, values, true, true);
}

Value text_count(Evaluator& evaluator, Value* values, const Arguments&) {
  const std::string_view wanted = text_argument(evaluator, values[1]);
  const Window window(evaluator, values[0], values[2], values[3]);
  if (!window.is_valid) return std::int64_t{0};
  if (wanted.empty()) return evaluator.count(character_count(window.part) + 1);
  const Finder finder(evaluator, wanted);
  std::size_t count = 0;
  for (std::size_t at = 0; (at = finder.find(window.part, at)) != std::string_view::npos; ++count) {
    evaluator.step();
    at += wanted.size();
  }
  return evaluator.count(count);
}

Value text_has_affix(Evaluator& evaluator, Value* values, bool is_suffix) {
  const Window window(evaluator, values[0], values[2], values[3]);
  const auto matches = [&](const Value& affix) {
    evaluator.step();
    const std::string_view text = text_argument(evaluator, affix);
    if (!window.is_valid) return false;
    return is_suffix ? window.part.ends_with(text) : window.part.starts_with(text);
  };
  if (!values[1].is(Kind::tuple)) return matches(values[1]);
  const std::vector<Value>& affixes = values[1].items();
  return std::any_of(affixes.begin(), affixes.end(), matches);
}
Value text_startswith(Evaluator& evaluator, Value* values, const Arguments&) {
  return text_has_affix(evaluator, values, false);
}
Value text_endswith(Evaluator& evaluator, Value* values, const Arguments&) {
  return text_has_affix(evaluator, values, true);
}

Value text_strip(Evaluator& evaluator, Value* values, bool at_start, bool at_end) {
  const bool has_characters = is_passed(values[1]);
  if (has_characters) refuse_markup(evaluator, values[0]);
  const std::string_view characters = has_characters ? text_argument(evaluator, values[1]) : "";
  return text_result(
      evaluator, values[0],
      std::string(stripped(evaluator, values[0].string(), has_characters ? &characters : nullptr,
                           at_start, at_end)));
}
Value text_strip_both(Evaluator& evaluator, Value* values, const Arguments&) {
  return text_strip(evaluator, values, true, true);
}
Value text_lstrip(Evaluator& evaluator, Value* values, const Arguments&) {
  return text_strip(evaluator, values, true, false);
}
Value text_rstrip(Evaluator& evaluator, Value* values, const Arguments&) {
  return text_strip(evaluator, values, false, true);
}

Value list_of_texts(Evaluator& evaluator, const std::vector<std::string_view>& parts) {
  evaluator.expect_space(parts.size() * (sizeof(Value) + sizeof(Text)));
  std::vector<Value> items;
  items.reserve(parts.size());
  for (const std::string_view part : parts) items.push_back(evaluator.string(std::string(part)));
  return evaluator.list(std::move(items));
}

// Splits at whitespace, from the end.
std::vector<std::string_view> split_spaces_backwards(Evaluator& evaluator, std::string_view text,
                                                     std::int64_t most) {
  std::vector<std::string_view> parts = split_spaces(evaluator, text, -1);
  const auto count = static_cast<std::int64_t>(parts.size());
  if (most < 0 || count <= most) return parts;
  // The first parts and the whitespace between them stay together.
  std::vector<std::string_view> result(parts.end() - static_cast<std::ptrdiff_t>(most),
                                       parts.end());
  const std::string_view last = parts[static_cast<std::size_t>(count - most - 1)];
  const auto end = static_cast<std::size_t>(last.data() + last.size() - text.data());
  result.insert(result.begin(), text.substr(0, end));
  if (most > 0) return result;
  return {stripped(evaluator, text, nullptr, false, true)};
}

Value text_split_any(Evaluator& evaluator, Value* values, bool is_backward) {
  refuse_markup(evaluator, values[0]);
  const std::string_view text = values[0].string();
  const std::int64_t most = values[2].is_missing() ? -1 : evaluator.integer_of(values[2]);
  if (!is_passed(values[1])) {
    return list_of_texts(evaluator, is_backward ? split_spaces_backwards(evaluator, text, most)
                                                : split_spaces(evaluator, text, most));
  }
  const std::string_view separator = text_argument(evaluator, values[1]);
  if (separator.empty()) evaluator.fail("empty separator");
  const Finder finder(evaluator, separator);
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  std::size_t end = text.size();
  for (std::int64_t left = most; left != 0; --left) {
    if (parts.size() == parts.capacity()) {
      evaluator.expect_space(parts.size() * 3 * sizeof(std::string_view));
    }
    if (is_backward) {
      const std::size_t place = finder.find_last(text, end);
      if (place == text.npos) break;
      parts.push_back(text.substr(place + separator.size(), end - place - separator.size()));
      end = place;
    } else {
      const std::size_t place = finder.find(text, begin);
      if (place == text.npos) break;
      parts.push_back(text.substr(begin, place - begin));
      begin = place + separator.size();
    }
  }
  parts.push_back(text.substr(begin, end - begin));
  if (is_backward) std::reverse(parts.begin(), parts.end());
  return list_of_texts(evaluator, parts);
}
Value text_split(Evaluator& evaluator, Value* values, const Arguments&) {
  return text_split_any(evaluator, values, false);
}
Value text_rsplit(Evaluator& evaluator, Value* values, const Arguments&) {
  return text_split_any(evaluator, values, true);
}

Value text_splitlines(Evaluator& evaluator, Value* values, const Arguments&) {
  refuse_markup(evaluator, values[0]);
  const bool keeps_ends = !values[1].is_missing() && evaluator.integer_of(values[1]) != 0;
  return list_of_texts(evaluator, split_lines(evaluator, values[0].string(), keeps_ends));
}

Value text_partition_any(Evaluator& evaluator, Value* values, bool is_backward) {
  refuse_markup(evaluator, values[0]);
  const std::string_view text = values[0].string();
  const std::string_view separator = text_argument(evaluator, values[1]);
  if (separator.empty()) evaluator.fail("empty separator");
  const Finder finder(evaluator, separator);
  const std::size_t place = is_backward ? finder.find_last(text, text.size()) : finder.find(text);
  std::string_view parts[3];
  if (place == text.npos) {
    parts[is_backward ? 2 : 0] = text;
  } else {
    parts[0] = text.substr(0, place);
    parts[1] = separator;
    parts[2] = text.substr(place + separator.size());
  }
  std::vector<Value> items;
  for (const std::string_view part : parts) items.push_back(evaluator.string(std::string(part)));
  return evaluator.tuple(std::move(items));
}
Value text_partition(Evaluator& evaluator, Value* values, const Arguments&) {
  return text_partition_any(evaluator, values, false);
}
Value text_rpartition(Evaluator& evaluator, Value* values, const Arguments&) {
  return text_partition_any(evaluator, values, true);
}

Value text_replace(Evaluator& evaluator, Value* values, const Arguments&) {
  refuse_markup(evaluator, values[0]);
  const std::int64_t count = values[3].is_missing() ? -1 : evaluator.integer_of(values[3]);
  return evaluator.string(replaced(evaluator, values[0].string(),
                                   text_argument(evaluator, values[1]),
                                   text_argument(evaluator, values[2]), count));
}

Value text_removeprefix(Evaluator& evaluator, Value* values, const Arguments&) {
  std::string_view text = values[0].string();
  const std::string_view prefix = text_argument(evaluator, values[1]);
  if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  evaluator.expect_space(text.size());
  return text_result(evaluator, values[0], std::string(text));
}

Value text_removesuffix(Evaluator& evaluator, Value* values, const Arguments&) {
  std::string_view text = values[0].string();
  const std::string_view suffix = text_argument(evaluator, values[1]);
  if (text.ends_with(suffix)) text.remove_suffix(suffix.size());
  evaluator.expect_space(text.size());
  return text_result(evaluator, values[0], std::string(text));
}

Value text_join(Evaluator& evaluator, Value* values, const Arguments&) {
  refuse_markup(evaluator, values[0]);
  const std::string_view separator = values[0].string();
  const Value iterator = evaluator.iterate(values[1]);
  std::string text;
  std::size_t index = 0;
  for (Value each; evaluator.next(iterator, each); ++index) {
    if (!each.is_string()) {
      evaluator.fail(
          {"sequence item {}: expected str instance, {} found", {index, type_name(each)}});
    }
    if (index > 0) text += separator;
    text += each.string();
    evaluator.scan(separator.size() + each.string().size());
    evaluator.expect_output(text.size());
  }
  evaluator.expect_space(text.size());
  return evaluator.string(std::move(text));
}

Value text_expandtabs(Evaluator& evaluator, Value* values, const Arguments&) {
  const std::int64_t size = values[1].is_missing() ? 8 : evaluator.integer_of(values[1]);
  std::string text;
  std::int64_t column = 0;
  for (const char c : values[0].string()) {
    if (c != '\t') {
      text += c;
      if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) ++column;
      if (c == '\n' || c == '\r') column = 0;
      continue;
    }
    if (size <= 0) continue;
    const std::int64_t spaces = size - column % size;
    if (spaces > 1'000'000) evaluator.fail_limit("spaces for a tab", 1'000'000);
    evaluator.expect_space(text.size() + static_cast<std::size_t>(spaces));
    evaluator.expect_output(text.size());
    text.append(static_cast<std::size_t>(spaces), ' ');
    column += spaces;
  }
  evaluator.expect_space(text.size());
  return text_result(evaluator, values[0], std::move(text));
}

Value text_format(Evaluator& evaluator, Value* values, const Arguments& all) {
  refuse_markup(evaluator, values[0]);
  return evaluator.string(format_braces(evaluator, values[0].string(), all));
}

Value text_format_map(Evaluator& evaluator, Value* values, const Arguments&) {
  refuse_markup(evaluator, values[0]);
  if (!values[1].is(Kind::dict)) evaluator.fail("format_map() expects a dict");
  Arguments arguments;
  for (const Dict::Entry& entry : values[1].entries().entries) {
    evaluator.step();
    if (entry.key.is_string()) arguments.named.emplace_back(entry.key, entry.value);
  }
  return evaluator.string(format_braces(evaluator, values[0].string(), arguments));
}

Value refused_method(Evaluator& evaluator, Value* values, const Arguments&) {
  evaluator.fail({"this method of '{}' is not supported", {type_name(values[0])}});
}

// --- Methods of other types

template <View::Part part>
Value dict_view(Evaluator& evaluator, Value* values, const Arguments&) {
  auto* view = new View;
  view->dict = values[0];
  view->part = part;
  return evaluator.own(Kind::view, view, sizeof(View), values[0].depth());
}

Value dict_get(Evaluator& evaluator, Value* values, const Arguments&) {
  const Value* value = values[0].entries().find(evaluator, values[1]);
  if (value) return *value;
  return values[2].is_missing() ? Value() : values[2];
}

Value dict_copy(Evaluator&, Value* values, const Arguments&) { return values[0]; }

Value sequence_count(Evaluator& evaluator, Value* values, const Arguments&) {
  const Value iterator = evaluator.iterate(values[0]);
  std::int64_t count = 0;
  for (Value each; evaluator.next(iterator, each);) count += are_equal(evaluator, each, values[1]);
  return count;
}

Value sequence_index(Evaluator& evaluator, Value* values, const Arguments&) {
  const std::int64_t length = length_of(values[0]);
  const auto place = [&](const Value& value, std::int64_t otherwise) {
    if (value.is_missing()) return otherwise;
    const std::int64_t i = evaluator.integer_of(value);
    return std::max<std::int64_t>(i < 0 ? i + length : i, 0);
  };
  const std::int64_t start = place(values[2], 0);
  const std::int64_t stop = place(values[3], length);
  const Value iterator = evaluator.iterate(values[0]);
  std::int64_t i = 0;
  for (Value each; evaluator.next(iterator, each) && i < stop; ++i) {
    if (i >= start && are_equal(evaluator, each, values[1])) return i;
  }
  evaluator.fail("the value is not in the list");
}

Value list_copy(Evaluator& evaluator, Value* values, const Arguments&) {
  return evaluator.list(evaluator.items_of(values[0]));
}

Value float_is_integer(Evaluator&, Value* values, const Arguments&) {
  const double value = values[0].real();
  return value - value == 0 && value == static_cast<double>(__builtin_trunc(value));
}

Value cycler_next(Evaluator&, Value* values, const Arguments&) {
  auto& cycler = values[0].object<Cycler>();
  Value item = cycler.items[cycler.position];
  cycler.position = (cycler.position + 1) % cycler.items.size();
  return item;
}

Value cycler_reset(Evaluator&, Value* values, const Arguments&) {
  values[0].object<Cycler>().position = 0;
  return {};
}

Value loop_cycle(Evaluator& evaluator, Value* values, const Arguments& all) {
  if (all.positional.empty()) evaluator.fail("no items for cycling given");
  const auto index = static_cast<std::size_t>(values[0].object<Loop>().index0);
  return all.positional[index % all.positional.size()];
}

Value loop_changed(Evaluator& evaluator, Value* values, const Arguments& all) {
  return evaluator.have_changed(values[0].object<Loop>(), evaluator.tuple(all.positional));
}

// --- Tables

constexpr Builtin text_methods[] = {
    {"capitalize", "_self", text_case<LetterCase::capitalized>},
    {"casefold", "_self", text_case<LetterCase::folded>},
    {"center", "_self _width _filler?", text_padded<Alignment::center>},
    {"count", "_self _sub _start? _end?", text_count},
    {"encode", "_self *", refused_method},
    {"endswith", "_self _suffix _start? _end?", text_endswith},
    {"expandtabs", "_self tabsize?", text_expandtabs},
    {"find", "_self _sub _start? _end?", text_find_first},
    {"format", "_self *", text_format},
    {"format_map", "_self _mapping", text_format_map},
    {"index", "_self _sub _start? _end?", text_index},
    {"isalnum", "_self", text_is<CharacterClass::alnum>},
    {"isalpha", "_self", text_is<CharacterClass::alpha>},
    {"isascii", "_self", text_is<CharacterClass::ascii>},
    {"isdecimal", "_self", text_is<CharacterClass::decimal>},
    {"isdigit", "_self", text_is<CharacterClass::digit>},
    {"isidentifier", "_self", text_isidentifier},
    {"islower", "_self", text_is<CharacterClass::lower>},
    {"isnumeric", "_self", text_is<CharacterClass::numeric>},
    {"isprintable", "_self", text_is<CharacterClass::printable>},
    {"isspace", "_self", text_is<CharacterClass::space>},
    {"istitle", "_self", text_istitle},
    {"isupper", "_self", text_is<CharacterClass::upper>},
    {"join", "_self _iterable", text_join},
    {"ljust", "_self _width _filler?", text_padded<Alignment::left>},
    {"lower", "_self", text_case<LetterCase::lower>},
    {"lstrip", "_self _chars?", text_lstrip},
    {"maketrans", "_self *", refused_method},
    {"partition", "_self _sep", text_partition},
    {"removeprefix", "_self _prefix", text_removeprefix},
    {"removesuffix", "_self _suffix", text_removesuffix},
    {"replace", "_self _old _new _count?", text_replace},
    {"rfind", "_self _sub _start? _end?", text_rfind},
    {"rindex", "_self _sub _start? _end?", text_rindex},
    {"rjust", "_self _width _filler?", text_padded<Alignment::right>},
    {"rpartition", "_self _sep", text_rpartition},
    {"rsplit", "_self sep? maxsplit?", text_rsplit},
    {"rstrip", "_self _chars?", text_rstrip},
    {"split", "_self sep? maxsplit?", text_split},
    {"splitlines", "_self keepends?", text_splitlines},
    {"startswith", "_self _prefix _start? _end?", text_startswith},
    {"strip", "_self _chars?", text_strip_both},
    {"swapcase", "_self", text_case<LetterCase::swapped>},
    {"title", "_self", text_case<LetterCase::title>},
    {"translate", "_self *", refused_method},
    {"upper", "_self", text_case<LetterCase::upper>},
    {"zfill", "_self _width", text_zfill},
};

constexpr Builtin dict_methods[] = {
    {"items", "_self", dict_view<View::Part::items>},
    {"keys", "_self", dict_view<View::Part::keys>},
    {"values", "_self", dict_view<View::Part::values>},
    {"get", "_self _key _default?", dict_get},
    {"copy", "_self", dict_copy},
    {"fromkeys", "_self *", refused_method},
};

constexpr Builtin sequence_methods[] = {
    {"count", "_self _value", sequence_count},
    {"index", "_self _value _start? _stop?", sequence_index},
    {"copy", "_self", list_copy},  // of lists only
};

constexpr Builtin integer_methods[] = {
    {"as_integer_ratio", "_self *", refused_method},
    {"bit_count", "_self *", refused_method},
    {"bit_length", "_self *", refused_method},
    {"conjugate", "_self *", refused_method},
    {"denominator", "_self *", refused_method},
    {"from_bytes", "_self *", refused_method},
    {"imag", "_self *", refused_method},
    {"numerator", "_self *", refused_method},
    {"real", "_self *", refused_method},
    {"to_bytes", "_self *", refused_method},
};

constexpr Builtin real_methods[] = {
    {"is_integer", "_self", float_is_integer}, {"as_integer_ratio", "_self *", refused_method},
    {"conjugate", "_self *", refused_method},  {"fromhex", "_self *", refused_method},
    {"hex", "_self *", refused_method},        {"imag", "_self *", refused_method},
    {"real", "_self *", refused_method},
};

constexpr Builtin view_methods[] = {
    {"isdisjoint", "_self *", refused_method},
    {"mapping", "_self *", refused_method},
};

constexpr Builtin cycler_methods[] = {
    {"next", "_self", cycler_next},
    {"reset", "_self", cycler_reset},
};

constexpr Builtin loop_methods[] = {
    {"cycle", "_self *", loop_cycle},
    {"changed", "_self *", loop_changed},
};

// Methods that change a list or a dict.
constexpr std::string_view list_changes[] = {"append", "clear", "pop",    "reverse",
                                             "insert", "sort",  "extend", "remove"};
constexpr std::string_view dict_changes[] = {"clear", "pop", "popitem", "setdefault", "update"};
constexpr Builtin forbidden{{}, "", nullptr};

std::span<const Builtin> methods_of(Kind kind) {
  switch (kind) {
    case Kind::string:
      return text_methods;
    case Kind::dict:
      return dict_methods;
    case Kind::list:
      return sequence_methods;
    case Kind::tuple:
    case Kind::range:
      return std::span(sequence_methods).first(2);
    case Kind::boolean:
    case Kind::integer:
      return integer_methods;
    case Kind::real:
      return real_methods;
    case Kind::view:
      return view_methods;
    case Kind::cycler:
      return cycler_methods;
    case Kind::loop:
      return loop_methods;
    default:
      return {};
  }
}

}  // namespace

const Builtin* find_method(Kind kind, std::string_view name) {
  for (const Builtin& method : methods_of(kind)) {
    if (method.name == name) return &method;
  }
  const std::span<const std::string_view> changes =
      kind == Kind::list   ? std::span<const std::string_view>(list_changes)
      : kind == Kind::dict ? std::span<const std::string_view>(dict_changes)
                           : std::span<const std::string_view>();
  return std::find(changes.begin(), changes.end(), name) != changes.end() ? &forbidden : nullptr;
}

}  // namespace glassformer::jinja
