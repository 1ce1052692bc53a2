#include "text/composed/token_decoder.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/strings/utf8.hpp"
#include "text/composed/byte_characters.hpp"
#include "text/composed/pattern.hpp"
#include "text/composed/pre_tokenizer.hpp"

namespace glassformer {
namespace {
namespace decoders {

using Tokens = std::vector<std::string>;

std::size_t bytes_of(const Tokens& tokens) {
  std::size_t bytes = 0;
  for (const std::string& token : tokens) bytes += token.size();
  return bytes;
}

// Returns the maximum number of bytes that tokens may grow to: a file can chain rules that each
// double the text.
std::size_t most_bytes(const Tokens& tokens) {
  constexpr std::size_t always = 1 << 12, each = 64;
  return always + each * bytes_of(tokens);
}

void expect_grown(std::size_t bytes, std::size_t most) {
  if (bytes <= most) return;
  throw_error(
      ErrorCode::invalid_tokenizer,
      {"tokenizer.json: decoder: expected tokens to become at most {} bytes, got more", {most}});
}

class Sequence final : public TokenDecoder {
 public:
  explicit Sequence(Component& component) {
    component.each("decoders", [this](const JsonValue& json, std::string_view path) {
      steps_.push_back(read_decoder(json, path));
    });
  }

  Tokens decode(Tokens tokens) const override {
    const std::size_t most = most_bytes(tokens);
    for (const auto& step : steps_) {
      tokens = step->decode(std::move(tokens));
      expect_grown(bytes_of(tokens), most);
    }
    return tokens;
  }

 private:
  std::vector<std::unique_ptr<TokenDecoder>> steps_;
};

class Spacing final : public TokenDecoder {
 public:
  Tokens decode(Tokens tokens) const override {
    for (std::size_t i = 1; i < tokens.size(); ++i) tokens[i].insert(0, " ");
    return tokens;
  }
};

void replace_all(std::string& text, std::string_view wanted, std::string_view content) {
  for (std::size_t at = 0; (at = text.find(wanted, at)) != text.npos; at += content.size()) {
    text.replace(at, wanted.size(), content);
  }
}

class WordPieces final : public TokenDecoder {
 public:
  explicit WordPieces(Component& component)
      : prefix_(component.string("prefix")), cleanup_(component.boolean("cleanup")) {}

  Tokens decode(Tokens tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      std::string& token = tokens[i];
      if (i > 0 && token.starts_with(prefix_)) {
        token.erase(0, prefix_.size());
      } else if (i > 0) {
        token.insert(0, " ");
      }
      if (cleanup_) clean_up(token);
    }
    return tokens;
  }

 private:
  static void clean_up(std::string& token) {
    struct Change {
      std::string_view from, to;
    };
    static constexpr std::array<Change, 11> changes = {{{" .", "."},
                                                        {" ?", "?"},
                                                        {" !", "!"},
                                                        {" ,", ","},
                                                        {" ' ", "'"},
                                                        {" n't", "n't"},
                                                        {" 'm", "'m"},
                                                        {" do not", " don't"},
                                                        {" 's", "'s"},
                                                        {" 've", "'ve"},
                                                        {" 're", "'re"}}};
    for (const Change& change : changes) replace_all(token, change.from, change.to);
  }

  std::string prefix_;
  bool cleanup_;
};

// Returns how many bytes at the start of `text`, where it is not valid UTF-8, become one U+FFFD.
// These are as many bytes as could begin a character.
std::size_t broken_size(std::string_view text) {
  std::size_t size = 1;
  while (size < text.size() && size < announced_size(text[0])) {
    // Whether some continuation by one more byte makes a character.
    bool begins = false;
    for (const char* rest : {"\x80\x80", "\xBF\xBF"}) {
      const std::string tried =
          std::string(text.substr(0, size + 1)).append(rest).substr(0, announced_size(text[0]));
      begins |= valid_character_size(tried) == tried.size();
    }
    if (!begins) break;
    ++size;
  }
  return size;
}

std::string valid_utf8(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t size = valid_character_size(bytes);
    text += size > 0 ? bytes.substr(0, size) : replacement_character;
    bytes.remove_prefix(size > 0 ? size : broken_size(bytes));
  }
  return text;
}

class ByteLevel final : public TokenDecoder {
 public:
  explicit ByteLevel(Component& component) {
    component.boolean("add_prefix_space");  // these are only relevant to the pre-tokenizer
    component.boolean("trim_offsets");
    component.boolean_unless_absent("use_regex", true);
  }

  Tokens decode(Tokens tokens) const override {
    std::string bytes;
    // A token with any other character is kept as it is.
    for (const std::string& token : tokens) bytes += bytes_of_characters(token).value_or(token);
    return {valid_utf8(bytes)};
  }
};

class Metaspace final : public TokenDecoder {
 public:
  explicit Metaspace(Component& component) {
    const MetaspaceFields fields = read_metaspace(component);
    append_character(replacement_, fields.replacement);
    prefixed_ = fields.prepend_scheme != "never";
  }

  Tokens decode(Tokens tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      replace_all(tokens[i], replacement_, i == 0 && prefixed_ ? "" : " ");
    }
    return tokens;
  }

 private:
  std::string replacement_;
  bool prefixed_;
};

class Replace final : public TokenDecoder {
 public:
  explicit Replace(Component& component)
      : pattern_(Pattern::read(component)), content_(component.string("content")) {}

  Tokens decode(Tokens tokens) const override {
    const std::size_t most = most_bytes(tokens);
    for (std::string& token : tokens) {
      const Characters characters = read_characters(token);
      token.clear();
      for (const TextPart& s : pattern_.find(characters)) {
        expect_grown(token.size() + content_.size(), most);
        token += s.matched ? content_
                           : to_utf8(CharacterSpan(characters).subspan(s.begin, s.end - s.begin));
      }
    }
    return tokens;
  }

 private:
  Pattern pattern_;
  std::string content_;
};

/// Words that end with a suffix. The suffix becomes the space after the word.
class SuffixedPieces final : public TokenDecoder {
 public:
  explicit SuffixedPieces(Component& component) : suffix_(component.string("suffix")) {
    if (suffix_.empty()) component.refuse("suffix", "", "a text that is not empty");
  }

  Tokens decode(Tokens tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      replace_all(tokens[i], suffix_, i + 1 == tokens.size() ? "" : " ");
    }
    return tokens;
  }

 private:
  std::string suffix_;
};

class ByteFallback final : public TokenDecoder {
 public:
  Tokens decode(Tokens tokens) const override {
    Tokens result;
    std::string bytes;
    const auto flush = [&] {
      if (is_valid_utf8(bytes)) {
        if (!bytes.empty()) result.push_back(bytes);
      } else {
        result.insert(result.end(), bytes.size(), std::string(replacement_character));
      }
      bytes.clear();
    };
    for (std::string& token : tokens) {
      if (const auto byte = byte_of(token)) {
        bytes += *byte;
      } else {
        flush();
        result.push_back(std::move(token));
      }
    }
    flush();
    return result;
  }

 private:
  static std::optional<char> byte_of(std::string_view token) {
    if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with('>')) return {};
    unsigned char value = 0;
    const char* end = token.data() + 5;
    if (std::from_chars(token.data() + 3, end, value, 16).ptr != end) return {};
    return static_cast<char>(value);
  }
};

class Fuse final : public TokenDecoder {
 public:
  Tokens decode(Tokens tokens) const override {
    std::string all;
    for (const std::string& token : tokens) all += token;
    return {all};
  }
};

class Strip final : public TokenDecoder {
 public:
  explicit Strip(Component& component)
      : left_(static_cast<std::size_t>(component.integer("start", 0, 1'000'000))),
        right_(static_cast<std::size_t>(component.integer("stop", 0, 1'000'000))) {
    append_character(content_, component.character("content"));
  }

  Tokens decode(Tokens tokens) const override {
    for (std::string& token : tokens) {
      for (std::size_t i = 0; i < left_ && token.starts_with(content_); ++i) {
        token.erase(0, content_.size());
      }
      for (std::size_t i = 0; i < right_ && token.ends_with(content_); ++i) {
        token.resize(token.size() - content_.size());
      }
    }
    return tokens;
  }

 private:
  std::string content_;
  std::size_t left_, right_;
};

constexpr std::array types_by_fields = {
    TypeFields{"BPEDecoder", {"suffix"}},
    TypeFields{"WordPiece", {"prefix", "cleanup"}},
    TypeFields{"CTC", {"pad_token", "word_delimiter_token", "cleanup"}},
    TypeFields{"Replace", {"pattern", "content"}},
    TypeFields{"Strip", {"content", "start", "stop"}},
};

std::unique_ptr<TokenDecoder> make(Component& component) {
  const std::string& type = component.type();
  if (type == "Sequence") return std::make_unique<Sequence>(component);
  if (type == "WordPiece") return std::make_unique<WordPieces>(component);
  if (type == "ByteLevel") return std::make_unique<ByteLevel>(component);
  if (type == "Metaspace") return std::make_unique<Metaspace>(component);
  if (type == "Replace") return std::make_unique<Replace>(component);
  if (type == "BPEDecoder") return std::make_unique<SuffixedPieces>(component);
  if (type == "ByteFallback") return std::make_unique<ByteFallback>();
  if (type == "Fuse") return std::make_unique<Fuse>();
  if (type == "Strip") return std::make_unique<Strip>(component);
  component.refuse_type(
      "one of BPEDecoder, ByteFallback, ByteLevel, Fuse, Metaspace, Replace, Sequence, Strip, "
      "WordPiece");
}

}  // namespace decoders
}  // namespace

std::unique_ptr<TokenDecoder> read_decoder(const JsonValue& json, std::string_view path) {
  Component component(json, path, decoders::types_by_fields);
  std::unique_ptr<TokenDecoder> decoder = decoders::make(component);
  component.finish();
  return decoder;
}

std::unique_ptr<TokenDecoder> make_spacing_decoder() {
  return std::make_unique<decoders::Spacing>();
}

}  // namespace glassformer
