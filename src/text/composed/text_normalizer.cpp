#include "text/composed/text_normalizer.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/strings/base64.hpp"
#include "text/composed/byte_characters.hpp"
#include "text/composed/pattern.hpp"
#include "text/sentencepiece/normalizer.hpp"
#include "text/unicode/normal_form.hpp"
#include "text/unicode/unicode.hpp"

namespace glassformer {
namespace {
namespace normalizers {

using unicode::Category;
using unicode::NormalForm;

class Sequence final : public TextNormalizer {
 public:
  explicit Sequence(Component& component) {
    component.each("normalizers", [this](const JsonValue& json, std::string_view path) {
      steps_.push_back(read_normalizer(json, path));
    });
  }

  explicit Sequence(std::vector<std::unique_ptr<TextNormalizer>> steps)
      : steps_(std::move(steps)) {}

  Characters normalize(Characters text) const override {
    const std::size_t most = most_characters(text);
    for (const auto& step : steps_) {
      text = step->normalize(std::move(text));
      expect_grown(text.size(), most);
    }
    return text;
  }

 private:
  std::vector<std::unique_ptr<TextNormalizer>> steps_;
};

Characters lower_case(const Characters& text) {
  Characters result;
  result.reserve(text.size());
  for (const Character& c : text) {
    result.push_back({unicode::lower_case(c.code), c.begin, c.end});
    if (c.code == 0x130) result.push_back({0x307, c.begin, c.end});
  }
  return result;
}

template <typename Is>
Characters without(Characters text, const Is& is) {
  std::erase_if(text, [&](const Character& c) { return is(c.code); });
  return text;
}

// Returns whether the original treats a character as Chinese. From U+2B820 on it leaves out some.
bool is_chinese(char32_t code) {
  struct Range {
    char32_t first, last;
  };
  static constexpr Range ranges[] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},
                                     {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F},
                                     {0x2B920, 0x2CEAF}, {0x2F800, 0x2FA1F}};
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [&](const Range& r) { return code >= r.first && code <= r.last; });
}

class BertNormalizer final : public TextNormalizer {
 public:
  explicit BertNormalizer(Component& component)
      : clean_text_(component.boolean("clean_text")),
        chinese_(component.boolean("handle_chinese_chars")),
        lower_case_(component.boolean("lowercase")),
        strip_accents_(component.boolean_or("strip_accents", lower_case_)) {}

  Characters normalize(Characters text) const override {
    if (clean_text_) text = clean(std::move(text));
    if (chinese_) text = space_chinese(text);
    if (strip_accents_) {
      text = without(unicode::normal_form(text, NormalForm::nfd), [](char32_t code) {
        return unicode::category(code) == Category::nonspacing_mark;
      });
    }
    if (lower_case_) text = lower_case(text);
    return text;
  }

 private:
  static Characters clean(Characters text) {
    text = without(std::move(text), [](char32_t code) {
      if (code == '\t' || code == '\n' || code == '\r') return false;
      const Category category = unicode::category(code);
      return code == 0xFFFD || category == Category::control || category == Category::format ||
             category == Category::private_use;
    });
    for (Character& c : text) {
      if (unicode::is_white_space(c.code)) c.code = ' ';
    }
    return text;
  }

  static Characters space_chinese(const Characters& text) {
    Characters result;
    result.reserve(text.size());
    for (const Character& c : text) {
      const bool chinese = is_chinese(c.code);
      if (chinese) result.push_back({' ', c.begin, c.end});
      result.push_back(c);
      if (chinese) result.push_back({' ', c.begin, c.end});
    }
    return result;
  }

  bool clean_text_, chinese_, lower_case_, strip_accents_;
};

class Lowercase final : public TextNormalizer {
 public:
  Characters normalize(Characters text) const override { return lower_case(text); }
};

class StripAccents final : public TextNormalizer {
 public:
  Characters normalize(Characters text) const override {
    return without(std::move(text), unicode::is_mark);
  }
};

class InNormalForm final : public TextNormalizer {
 public:
  explicit InNormalForm(NormalForm form) : form_(form) {}

  Characters normalize(Characters text) const override { return unicode::normal_form(text, form_); }

 private:
  NormalForm form_;
};

class Strip final : public TextNormalizer {
 public:
  explicit Strip(Component& component)
      : left_(component.boolean("strip_left")), right_(component.boolean("strip_right")) {}

  Characters normalize(Characters text) const override {
    const auto stays = [](const Character& c) { return !unicode::is_white_space(c.code); };
    if (right_) {
      text.erase(std::find_if(text.rbegin(), text.rend(), stays).base(), text.end());
    }
    if (left_) text.erase(text.begin(), std::find_if(text.begin(), text.end(), stays));
    return text;
  }

 private:
  bool left_, right_;
};

class Replace final : public TextNormalizer {
 public:
  explicit Replace(Component& component)
      : pattern_(Pattern::read(component)),
        content_(read_characters(component.string("content"))) {}

  Characters normalize(Characters text) const override {
    Characters result;
    result.reserve(text.size());
    const std::size_t most = most_characters(text);
    for (const TextPart& stretch : pattern_.find(text)) {
      if (stretch.matched) {
        expect_grown(result.size() + content_.size(), most);
        const Character origin = origin_of(text, stretch);
        for (const Character& c : content_) result.push_back({c.code, origin.begin, origin.end});
      } else {
        for (std::size_t i = stretch.begin; i < stretch.end; ++i) result.push_back(text[i]);
      }
    }
    return result;
  }

 private:
  // Returns the character whose position the replacement gets. Before an empty match at the start
  // there is no character.
  static Character origin_of(CharacterSpan text, const TextPart& match) {
    if (match.end > 0) return text[match.end - 1];
    return {0, text[0].begin, text[0].begin};
  }

  Pattern pattern_;
  Characters content_;
};

class Prepend final : public TextNormalizer {
 public:
  explicit Prepend(Component& component) : content_(read_characters(component.string("prepend"))) {}

  Characters normalize(Characters text) const override {
    if (text.empty()) return text;
    expect_grown(text.size() + content_.size(), most_characters(text));
    Characters result = content_;
    for (Character& c : result) c.begin = c.end = text[0].begin;
    result.insert(result.end(), text.begin(), text.end());
    return result;
  }

 private:
  Characters content_;
};

class ByteLevel final : public TextNormalizer {
 public:
  Characters normalize(Characters text) const override { return to_byte_characters(text); }
};

class Precompiled final : public TextNormalizer {
 public:
  explicit Precompiled(std::string blob) : blob_(std::move(blob)), map_(blob_) {}

  Characters normalize(Characters text) const override {
    Characters result;
    result.reserve(text.size());
    CharacterSpan rest(text);
    const std::size_t most = most_characters(text);
    while (!rest.empty()) {
      expect_grown(result.size(), most);
      const CharacterSpan cluster = rest.first(unicode::cluster_size(rest));
      rest = rest.subspan(cluster.size());
      if (cluster.size() == 1 || !replace(cluster, result)) {
        for (std::size_t i = 0; i < cluster.size(); ++i) {
          if (!replace(cluster.subspan(i, 1), result)) result.push_back(cluster[i]);
        }
      }
    }
    return result;
  }

 private:
  static constexpr std::size_t max_bytes = 5;  // maximum length of a lookup

  bool replace(CharacterSpan origin, Characters& result) const {
    const std::string text = to_utf8(origin);
    if (text.size() > max_bytes) return false;
    const CharacterMap::Match match = map_.shortest_match(text);
    if (match.size == 0) return false;
    std::size_t i = 0;
    for (const Character& c : read_characters(match.replacement)) {
      const Character& place = origin[std::min(i++, origin.size() - 1)];
      result.push_back({c.code, place.begin, place.end});
    }
    return true;
  }

  std::string blob_;
  CharacterMap map_;
};

constexpr std::array types_by_fields = {
    TypeFields{"BertNormalizer", {"clean_text", "handle_chinese_chars", "lowercase"}},
    TypeFields{"Strip", {"strip_left", "strip_right"}},
    TypeFields{"Sequence", {"normalizers"}},
    TypeFields{"Replace", {"pattern", "content"}},
    TypeFields{"Prepend", {"prepend"}},
};

std::unique_ptr<TextNormalizer> make(Component& component) {
  const std::string& type = component.type();
  if (type == "Sequence") return std::make_unique<Sequence>(component);
  if (type == "BertNormalizer") return std::make_unique<BertNormalizer>(component);
  if (type == "Lowercase") return std::make_unique<Lowercase>();
  if (type == "NFC") return std::make_unique<InNormalForm>(NormalForm::nfc);
  if (type == "NFD") return std::make_unique<InNormalForm>(NormalForm::nfd);
  if (type == "NFKC") return std::make_unique<InNormalForm>(NormalForm::nfkc);
  if (type == "NFKD") return std::make_unique<InNormalForm>(NormalForm::nfkd);
  if (type == "StripAccents") return std::make_unique<StripAccents>();
  if (type == "Strip") return std::make_unique<Strip>(component);
  if (type == "Replace") return std::make_unique<Replace>(component);
  if (type == "Prepend") return std::make_unique<Prepend>(component);
  if (type == "ByteLevel") return std::make_unique<ByteLevel>();
  if (type == "Precompiled") {
    const std::optional<std::string> map = decode_base64(component.string("precompiled_charsmap"));
    if (!map || map->empty()) component.fail("precompiled_charsmap", "expected base64");
    return make_precompiled_normalizer(*map);
  }
  component.refuse_type(
      "one of BertNormalizer, ByteLevel, Lowercase, NFC, NFD, NFKC, NFKD, Precompiled, Prepend, "
      "Replace, Sequence, Strip, StripAccents");
}

}  // namespace normalizers
}  // namespace

std::unique_ptr<TextNormalizer> read_normalizer(const JsonValue& json, std::string_view path) {
  Component component(json, path, normalizers::types_by_fields);
  std::unique_ptr<TextNormalizer> normalizer = normalizers::make(component);
  component.finish();
  return normalizer;
}

std::unique_ptr<TextNormalizer> make_lower_case() {
  return std::make_unique<normalizers::Lowercase>();
}

std::unique_ptr<TextNormalizer> make_sequence(std::unique_ptr<TextNormalizer> first,
                                              std::unique_ptr<TextNormalizer> second) {
  std::vector<std::unique_ptr<TextNormalizer>> steps;
  if (first) steps.push_back(std::move(first));
  if (second) steps.push_back(std::move(second));
  return std::make_unique<normalizers::Sequence>(std::move(steps));
}

std::unique_ptr<TextNormalizer> make_precompiled_normalizer(std::string map) {
  return std::make_unique<normalizers::Precompiled>(std::move(map));
}

}  // namespace glassformer
