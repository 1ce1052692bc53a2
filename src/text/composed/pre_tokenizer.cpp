#include "text/composed/pre_tokenizer.hpp"

#include <algorithm>
#include <optional>

#include "base/strings/utf8.hpp"
#include "text/composed/byte_characters.hpp"
#include "text/composed/pattern.hpp"
#include "text/unicode/unicode.hpp"

namespace glassformer {
namespace {
namespace pre_tokenizers {

/// What to do with the parts that match.
enum class Behavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

Behavior read_behavior(Component& component, std::optional<Behavior> fallback) {
  if (fallback && !component.find("behavior")) return *fallback;
  const std::string name = component.string("behavior");
  if (name == "Removed") return Behavior::removed;
  if (name == "Isolated") return Behavior::isolated;
  if (name == "MergedWithPrevious") return Behavior::merged_with_previous;
  if (name == "MergedWithNext") return Behavior::merged_with_next;
  if (name == "Contiguous") return Behavior::contiguous;
  component.fail("behavior",
                 "one of Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous",
                 component.require("behavior"));
}

void split_at(CharacterSpan text, const std::vector<TextPart>& stretches, Behavior behavior,
              Words& words) {
  std::vector<TextPart> result;
  const auto add = [&](const TextPart& stretch, bool merge) {
    if (merge && !result.empty()) {
      result.back().begin = std::min(result.back().begin, stretch.begin);
      result.back().end = std::max(result.back().end, stretch.end);
    } else {
      result.push_back(stretch);
    }
  };
  bool before = false;  // whether the last part matched
  if (behavior == Behavior::merged_with_next) {
    for (std::size_t i = stretches.size(); i-- > 0;) {
      add(stretches[i], stretches[i].matched && !before);
      before = stretches[i].matched;
    }
    std::reverse(result.begin(), result.end());
  } else {
    for (const TextPart& stretch : stretches) {
      if (behavior == Behavior::removed && stretch.matched) continue;
      add(stretch, (behavior == Behavior::merged_with_previous && stretch.matched && !before) ||
                       (behavior == Behavior::contiguous && stretch.matched == before));
      before = stretch.matched;
    }
  }
  for (const TextPart& s : result) words.add(text.subspan(s.begin, s.end - s.begin));
}

bool is_punctuation(char32_t code) {
  const bool ascii = (code > 32 && code < 48) || (code > 57 && code < 65) ||
                     (code > 90 && code < 97) || (code > 122 && code < 127);
  return ascii || unicode::is_punctuation(code);
}

// Puts a character before a text. It is not part of the input.
Characters with_prefix(char32_t prefix, CharacterSpan text) {
  Characters result{{prefix, text[0].begin, text[0].begin}};
  result.insert(result.end(), text.begin(), text.end());
  return result;
}

class Sequence final : public PreTokenizer {
 public:
  explicit Sequence(Component& component) {
    component.each("pretokenizers", [this](const JsonValue& json, std::string_view path) {
      steps_.push_back(read_pre_tokenizer(json, path));
    });
  }

  void split(CharacterSpan text, Words& words) const override {
    const std::size_t most = most_characters(text);
    Words current;
    current.add(text);
    for (const auto& step : steps_) {
      Words next;
      Words& cut = &step == &steps_.back() ? words : next;
      const std::size_t before = cut.characters();
      for (std::size_t i = 0; i < current.size(); ++i) step->split(current[i], cut);
      expect_grown(cut.characters() - before, most);
      current = std::move(next);
    }
    if (steps_.empty()) words.add(text);
  }

 private:
  std::vector<std::unique_ptr<PreTokenizer>> steps_;
};

/// Cuts at all characters of one kind.
class CharacterSplit final : public PreTokenizer {
 public:
  using Is = bool (*)(char32_t);
  CharacterSplit(Is is, Behavior behavior) : is_(is), behavior_(behavior) {}

  void split(CharacterSpan text, Words& words) const override {
    split_at(text, find_characters(text, is_), behavior_, words);
  }

 private:
  Is is_;
  Behavior behavior_;
};

class BertPreTokenizer final : public PreTokenizer {
 public:
  void split(CharacterSpan text, Words& words) const override {
    Words parts;
    split_at(text, find_characters(text, unicode::is_white_space), Behavior::removed, parts);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      split_at(parts[i], find_characters(parts[i], is_punctuation), Behavior::isolated, words);
    }
  }
};

/// Splits into runs of word characters and runs of other characters, without white space.
class Whitespace final : public PreTokenizer {
 public:
  void split(CharacterSpan text, Words& words) const override {
    const auto kind = [](char32_t code) {
      return unicode::is_word(code) ? 1 : unicode::is_white_space(code) ? 0 : 2;
    };
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
      const int wanted = kind(text[begin].code);
      while (end < text.size() && kind(text[end].code) == wanted) ++end;
      if (wanted != 0) words.add(text.subspan(begin, end - begin));
    }
  }
};

class Split final : public PreTokenizer {
 public:
  explicit Split(Component& component)
      : pattern_(Pattern::read(component)),
        behavior_(read_behavior(component, {})),
        invert_(component.boolean("invert")) {}

  void split(CharacterSpan text, Words& words) const override {
    std::vector<TextPart> stretches = pattern_.find(text);
    for (TextPart& stretch : stretches) stretch.matched ^= invert_;
    split_at(text, stretches, behavior_, words);
  }

 private:
  Pattern pattern_;
  Behavior behavior_;
  bool invert_;
};

class ByteLevel final : public PreTokenizer {
 public:
  explicit ByteLevel(Component& component)
      : add_prefix_(component.boolean("add_prefix_space")),
        use_regex_(component.boolean_unless_absent("use_regex", true)) {
    component.boolean("trim_offsets");  // only relevant to the post-processor
  }

  void split(CharacterSpan text, Words& words) const override {
    if (text.empty()) return;
    Characters prefixed;
    if (add_prefix_ && text[0].code != ' ') text = prefixed = with_prefix(' ', text);
    while (!text.empty()) {
      const std::size_t size = use_regex_ ? byte_level_word(text, 0) : text.size();
      words.add(to_byte_characters(text.first(size)));
      text = text.subspan(size);
    }
  }

 private:
  bool add_prefix_, use_regex_;
};

class Metaspace final : public PreTokenizer {
 public:
  explicit Metaspace(Component& component) : fields_(read_metaspace(component)) {}

  void split(CharacterSpan text, Words& words) const override {
    if (text.empty()) return;
    Characters spaced(text.begin(), text.end());
    for (Character& c : spaced) {
      if (c.code == ' ') c.code = fields_.replacement;
    }
    const char32_t replacement = fields_.replacement;
    const std::string& scheme = fields_.prepend_scheme;
    const bool prepend = scheme == "always" || (scheme == "first" && text[0].begin == 0);
    if (prepend && spaced[0].code != replacement) spaced = with_prefix(replacement, spaced);
    if (!fields_.split) {
      words.add(spaced);
      return;
    }
    split_at(spaced, find_characters(spaced, [=](char32_t c) { return c == replacement; }),
             Behavior::merged_with_next, words);
  }

 private:
  MetaspaceFields fields_;
};

std::unique_ptr<PreTokenizer> make(Component& component) {
  const std::string& type = component.type();
  if (type == "Sequence") return std::make_unique<Sequence>(component);
  if (type == "BertPreTokenizer") return std::make_unique<BertPreTokenizer>();
  if (type == "ByteLevel") return std::make_unique<ByteLevel>(component);
  if (type == "Metaspace") return std::make_unique<Metaspace>(component);
  if (type == "Split") return std::make_unique<Split>(component);
  if (type == "Whitespace") return std::make_unique<Whitespace>();
  if (type == "WhitespaceSplit") {
    return std::make_unique<CharacterSplit>(unicode::is_white_space, Behavior::removed);
  }
  if (type == "Punctuation") {
    return std::make_unique<CharacterSplit>(is_punctuation,
                                            read_behavior(component, Behavior::isolated));
  }
  if (type == "Digits") {
    const bool each = component.boolean("individual_digits");
    return std::make_unique<CharacterSplit>(unicode::is_number,
                                            each ? Behavior::isolated : Behavior::contiguous);
  }
  component.refuse_type(
      "one of BertPreTokenizer, ByteLevel, Digits, Metaspace, Punctuation, Sequence, Split, "
      "Whitespace, WhitespaceSplit");
}

}  // namespace pre_tokenizers
}  // namespace

MetaspaceFields read_metaspace(Component& component) {
  MetaspaceFields fields{.replacement = component.character("replacement"),
                         .prepend_scheme = "always",
                         .split = component.boolean_or("split", true)};
  component.string_or("str_rep", "");
  if (component.find("prepend_scheme")) fields.prepend_scheme = component.string("prepend_scheme");
  const std::string& scheme = fields.prepend_scheme;
  if (scheme != "always" && scheme != "first" && scheme != "never") {
    component.fail("prepend_scheme", "one of always, first, never",
                   component.require("prepend_scheme"));
  }
  if (!component.boolean_or("add_prefix_space", true) && scheme != "never") {
    component.fail("add_prefix_space",
                   {"expected true with the prepend_scheme {}, got false", {describe(scheme)}});
  }
  return fields;
}

void Words::add(CharacterSpan word) {
  if (word.empty()) return;
  characters_.insert(characters_.end(), word.begin(), word.end());
  ends_.push_back(characters_.size());
}

CharacterSpan Words::operator[](std::size_t i) const {
  const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
  return CharacterSpan(characters_).subspan(begin, ends_[i] - begin);
}

std::unique_ptr<PreTokenizer> read_pre_tokenizer(const JsonValue& json, std::string_view path) {
  Component component(json, path);
  std::unique_ptr<PreTokenizer> pre_tokenizer = pre_tokenizers::make(component);
  component.finish();
  return pre_tokenizer;
}

}  // namespace glassformer
