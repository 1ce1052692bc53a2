#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "base/heap_sort.hpp"
#include "base/strings/utf8.hpp"
#include "jinja/letters.hpp"
#include "jinja/numbers.hpp"
#include "jinja/rendering.hpp"

namespace glassformer::jinja {
namespace {

void append_hex(std::string& text, std::uint32_t number, int digits) {
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    text += "0123456789abcdef"[number >> shift & 15];
  }
}

// Counts the depth of values in which a namespace may contain itself.
class Deeper {
 public:
  Deeper(Rendering& rendering, std::size_t& depth) : depth_(depth) {
    if (depth_ > max_value_depth) rendering.fail_limit("levels of values", max_value_depth);
    ++depth_;
  }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
  ~Deeper() { --depth_; }

 private:
  std::size_t& depth_;
};

// Returns the indices of a dict's entries in the order of their keys.
std::vector<std::size_t> key_order(Rendering& rendering, const Dict& dict) {
  rendering.step(dict.entries.size());
  return sorted_order(dict.entries.size(), [&](std::size_t a, std::size_t b) {
    return compare(rendering, dict.entries[a].key, dict.entries[b].key, "<") == -1;
  });
}

class ReprWriter {
 public:
  ReprWriter(Rendering& rendering, bool is_sorted) : rendering_(rendering), is_sorted_(is_sorted) {}

  void write(const Value& value) {
    const Deeper deeper(rendering_, depth_);
    rendering_.step();
    switch (value.kind()) {
      case Kind::missing:
      case Kind::undefined:
        text_ += "Undefined";
        break;
      case Kind::none:
        text_ += "None";
        break;
      case Kind::boolean:
        text_ += value.integer() != 0 ? "True" : "False";
        break;
      case Kind::integer:
        text_ += std::to_string(value.integer());
        break;
      case Kind::real:
        text_ += float_text(value.real());
        break;
      case Kind::string:
        rendering_.expect_space(text_.size() + 4 * value.string().size());
        text_ +=
            is_markup(value) ? "Markup(" + quoted(value.string()) + ")" : quoted(value.string());
        break;
      case Kind::list:
        write_items('[', value.items(), "]");
        break;
      case Kind::tuple:
        write_items('(', value.items(), value.items().size() == 1 ? ",)" : ")");
        break;
      case Kind::dict:
        write_dict(value.entries());
        break;
      case Kind::range:
        write_range(value.object<Range>());
        break;
      case Kind::view:
        write_view(value);
        break;
      case Kind::name_space:
        text_ += "<Namespace ";
        write(value.object<NameSpace>().attributes);
        text_ += '>';
        break;
      default:
        rendering_.fail(
            {"writing a value of type '{}' as text is not supported", {type_name(value)}});
    }
  }

  std::string take() { return std::move(text_); }

 private:
  void write_items(char open, const std::vector<Value>& items, const char* close) {
    text_ += open;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) text_ += ", ";
      write(items[i]);
    }
    text_ += close;
    rendering_.expect_space(text_.size());
  }

  void write_dict(const Dict& dict) {
    std::vector<std::size_t> order;
    if (is_sorted_) order = key_order(rendering_, dict);
    text_ += '{';
    for (std::size_t i = 0; i < dict.entries.size(); ++i) {
      const Dict::Entry& entry = dict.entries[is_sorted_ ? order[i] : i];
      if (i > 0) text_ += ", ";
      write(entry.key);
      text_ += ": ";
      write(entry.value);
    }
    text_ += '}';
    rendering_.expect_space(text_.size());
  }

  void write_range(const Range& range) {
    text_ += "range(" + std::to_string(range.start) + ", " + std::to_string(range.stop);
    if (range.step != 1) text_ += ", " + std::to_string(range.step);
    text_ += ')';
  }

  void write_view(const Value& value) {
    const auto& view = value.object<View>();
    text_ += type_name(value);
    text_ += "([";
    const char* separator = "";
    for (const Dict::Entry& entry : view.dict.entries().entries) {
      text_ += separator;
      separator = ", ";
      const bool is_pair = view.part == View::Part::items;
      if (is_pair) text_ += '(';
      if (view.part != View::Part::values) write(entry.key);
      if (is_pair) text_ += ", ";
      if (view.part != View::Part::keys) write(entry.value);
      if (is_pair) text_ += ')';
    }
    text_ += "])";
    rendering_.expect_space(text_.size());
  }

  Rendering& rendering_;
  bool is_sorted_;
  std::string text_;
  std::size_t depth_ = 0;
};

class JsonTextWriter {
 public:
  JsonTextWriter(Rendering& rendering, const JsonStyle& style)
      : rendering_(rendering), style_(style) {}

  void write(const Value& value) {
    rendering_.step();
    switch (value.kind()) {
      case Kind::none:
        text_ += "null";
        break;
      case Kind::boolean:
        text_ += value.integer() != 0 ? "true" : "false";
        break;
      case Kind::integer:
        text_ += std::to_string(value.integer());
        break;
      case Kind::real:
        text_ += number(value.real());
        break;
      case Kind::string:
        write_string(value.string());
        break;
      case Kind::list:
      case Kind::tuple:
        write_items(value.items());
        break;
      case Kind::dict:
        write_dict(value.entries());
        break;
      default:
        rendering_.fail({"Object of type {} is not JSON serializable", {type_name(value)}});
    }
  }

  std::string take() { return std::move(text_); }

 private:
  static std::string number(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
    return float_text(value);
  }

  void write_string(std::string_view string) {
    rendering_.expect_space(text_.size() + 2 * string.size());
    text_ += '"';
    for (std::size_t at = 0; at < string.size();) {
      const std::size_t begin = at;
      const char32_t code = next_character(string, at);
      constexpr std::string_view special = "\"\\\n\r\t\b\f";
      const std::size_t i = code < 0x80 ? special.find(static_cast<char>(code)) : special.npos;
      if (i != special.npos) {
        text_ += {'\\', "\"\\nrtbf"[i]};
      } else if (code < 0x20 || (style_.ascii && code >= 0x7F)) {
        write_escape(code);
      } else {
        text_ += string.substr(begin, at - begin);
      }
    }
    text_ += '"';
  }

  void write_escape(char32_t code) {
    if (code >= 0x10000) {
      write_escape(0xD800 + ((code - 0x10000) >> 10));
      code = 0xDC00 + ((code - 0x10000) & 0x3FF);
    }
    text_ += "\\u";
    append_hex(text_, code, 4);
  }

  void write_key(const Value& key) {
    switch (key.kind()) {
      case Kind::string:
        write_string(key.string());
        break;
      case Kind::none:
      case Kind::boolean:
      case Kind::integer:
      case Kind::real:
        text_ += '"';
        write(key);
        text_ += '"';
        break;
      default:
        rendering_.fail({"keys must be str, int, float, bool or None, not {}", {type_name(key)}});
    }
  }

  void start_item(bool is_first) {
    if (!is_first) text_ += style_.item_separator;
    start_line();
  }

  void start_line() {
    if (!style_.indented) return;
    rendering_.expect_space(text_.size() + depth_ * style_.indent.size());
    text_ += '\n';
    for (std::size_t i = 0; i < depth_; ++i) text_ += style_.indent;
  }

  void write_items(const std::vector<Value>& items) {
    if (items.empty()) {
      text_ += "[]";
      return;
    }
    text_ += '[';
    ++depth_;
    for (std::size_t i = 0; i < items.size(); ++i) {
      start_item(i == 0);
      write(items[i]);
    }
    --depth_;
    start_line();
    text_ += ']';
    rendering_.expect_space(text_.size());
  }

  void write_dict(const Dict& dict) {
    if (dict.entries.empty()) {
      text_ += "{}";
      return;
    }
    std::vector<std::size_t> order;
    if (style_.sorted) order = key_order(rendering_, dict);
    text_ += '{';
    ++depth_;
    for (std::size_t i = 0; i < dict.entries.size(); ++i) {
      const Dict::Entry& entry = dict.entries[style_.sorted ? order[i] : i];
      start_item(i == 0);
      write_key(entry.key);
      text_ += style_.key_separator;
      write(entry.value);
    }
    --depth_;
    start_line();
    text_ += '}';
    rendering_.expect_space(text_.size());
  }

  Rendering& rendering_;
  const JsonStyle& style_;
  std::string text_;
  std::size_t depth_ = 0;
};

std::string written(Rendering& rendering, const Value& value, bool is_sorted) {
  ReprWriter writer(rendering, is_sorted);
  writer.write(value);
  return writer.take();
}

}  // namespace

std::string quoted(std::string_view text) {
  const bool has_single = text.find('\'') != text.npos;
  const char quote = has_single && text.find('"') == text.npos ? '"' : '\'';
  std::string result(1, quote);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t code = next_character(text, at);
    if (code == static_cast<unsigned char>(quote) || code == '\\') {
      result += {'\\', static_cast<char>(code)};
    } else if (code == '\n' || code == '\r' || code == '\t') {
      result += {'\\', code == '\n' ? 'n' : code == '\r' ? 'r' : 't'};
    } else if (is_in_class(code, CharacterClass::printable)) {
      result += text.substr(begin, at - begin);
    } else {
      result += code < 0x100 ? "\\x" : code < 0x10000 ? "\\u" : "\\U";
      append_hex(result, code, code < 0x100 ? 2 : code < 0x10000 ? 4 : 8);
    }
  }
  return result + quote;
}

std::string text_of(Rendering& rendering, const Value& value) {
  if (value.is_string()) return std::string(value.string());
  if (value.is_undefined()) return {};
  return written(rendering, value, false);
}

std::string repr_of(Rendering& rendering, const Value& value) {
  return written(rendering, value, false);
}

std::string sorted_repr_of(Rendering& rendering, const Value& value) {
  return written(rendering, value, true);
}

std::string json_of(Rendering& rendering, const Value& value, const JsonStyle& style) {
  JsonTextWriter writer(rendering, style);
  writer.write(value);
  return writer.take();
}

}  // namespace glassformer::jinja
