#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "text/sentencepiece/tokenizer.hpp"

// Reads the texts and models of tests/fixtures/data/tokenizer; make.py there describes their
// format.
namespace glassformer::test {

inline const std::string tokenizer_folder =
    GLASSFORMER_SOURCE_DIR "/tests/fixtures/data/tokenizer/";

inline constexpr std::array tokenizer_models{"unigram",   "unigram_bytes", "bpe",
                                             "bpe_bytes", "spaces",        "suffix"};

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline SentencePieceTokenizer parse_tokenizer(const std::string& model_file) {
  return SentencePieceTokenizer::parse(std::as_bytes(std::span(model_file)));
}

inline SentencePieceTokenizer tokenizer_named(const std::string& name) {
  return parse_tokenizer(read_text(tokenizer_folder + name + ".model"));
}

/// Returns tokenizer_named(name), owned by the caller, as pipelines need it.
inline std::unique_ptr<Tokenizer> own_tokenizer(const std::string& name) {
  return std::make_unique<SentencePieceTokenizer>(tokenizer_named(name));
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

inline std::string unescape(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\') {
      text += line[i];
      continue;
    }
    switch (line.at(++i)) {
      case 'n':
        text += '\n';
        break;
      case 'r':
        text += '\r';
        break;
      case 't':
        text += '\t';
        break;
      case 'x':
        text += static_cast<char>(std::stoi(std::string(line.substr(i + 1, 2)), nullptr, 16));
        i += 2;
        break;
      default:
        text += line[i];
    }
  }
  return text;
}

inline std::vector<std::string> committed_texts() {
  std::vector<std::string> texts;
  for (const char* name : {"text.txt", "adversarial.txt"}) {
    for (const std::string& line : lines_of(read_text(tokenizer_folder + name))) {
      texts.push_back(unescape(line));
    }
  }
  return texts;
}

// Returns random bytes, random characters of the committed texts, and committed texts with some
// damaged bytes, identical on every run. No text has a newline.
inline std::vector<std::string> random_texts(std::size_t count) {
  std::mt19937 random(20240607);
  const std::vector<std::string> seeds = committed_texts();
  const auto below = [&](std::size_t n) { return random() % n; };
  std::vector<std::string> texts;
  while (texts.size() < count) {
    std::string text;
    const std::size_t kind = below(3);
    for (std::size_t n = below(kind == 0 ? 40 : 12); n > 0; --n) {
      const std::string& seed = seeds[below(seeds.size())];
      if (kind == 0) {
        text += static_cast<char>(below(256));
      } else if (!seed.empty()) {
        text += seed.substr(below(seed.size()), below(12));
      }
    }
    for (char& byte : text) {
      if (kind == 2 && below(10) == 0) byte = static_cast<char>(below(256));
      if (byte == '\n') byte = ' ';
    }
    texts.push_back(text);
  }
  return texts;
}

// Returns a megabyte of the committed texts in one line.
inline std::string long_text() {
  std::string text;
  while (text.size() < 1'000'000) {
    for (const std::string& line : committed_texts()) text += line + ' ';
  }
  for (char& byte : text) {
    if (byte == '\n') byte = ' ';
  }
  return text;
}

inline std::vector<std::int32_t> ids_of(const std::vector<Token>& tokens) {
  std::vector<std::int32_t> ids;
  for (const Token& token : tokens) ids.push_back(token.id);
  return ids;
}

inline std::string join(const std::vector<std::int32_t>& ids) {
  std::string line;
  for (const std::int32_t id : ids) line += (line.empty() ? "" : " ") + std::to_string(id);
  return line;
}

}  // namespace glassformer::test
