#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/tasks/tokenize.hpp"
#include "glassformer/error.hpp"
#include "glassformer/text_input.hpp"
#include "glassformer/tokens.hpp"

namespace glassformer {

class TokenizePipeline;

/// The tokenizer of a model, without the model: converts texts to tokens and back. If a translator
/// has two vocabularies, texts are encoded with that of the source, and decoded with that of the
/// translations. Any number of threads may call it at a time.
class TextTokenizer {
 public:
  /// Opens the tokenizer of a model folder, in this project's format or a published one. The
  /// model's weights and its configuration may be missing, and the model may be of a kind that
  /// cannot be opened here. Throws `missing_file`, `invalid_tokenizer` and `unsupported`.
  static TextTokenizer load(const std::filesystem::path& folder);
  explicit TextTokenizer(std::unique_ptr<TokenizePipeline> pipeline);
  TextTokenizer(TextTokenizer&&) noexcept;
  TextTokenizer& operator=(TextTokenizer&&) noexcept;
  ~TextTokenizer();

  /// Converts a text or two to tokens. A text without tokens has only the special ones. Throws
  /// `too_large` for a text over 16 MiB, `unsupported` for two texts if the model reads one, and
  /// `invalid_option` for a language that does not exist or a `max_length` below the number of
  /// special tokens.
  EncodedText encode(const TextInput& text, const EncodeOptions& options = {}) const;

  /// Converts tokens to a text. Throws `invalid_option` for an id outside the vocabulary.
  std::string decode(std::span<const std::int32_t> ids, const DecodeOptions& options = {}) const;

  /// The number of tokens in the vocabulary of the texts that are encoded.
  std::size_t size() const;
  /// Returns a token of that vocabulary as it is written there, such as "##ing". Throws
  /// `invalid_option` for an id outside it.
  std::string_view piece(std::int32_t id) const;
  /// Returns the id of such a token, if there is one.
  std::optional<std::int32_t> id_of(std::string_view piece) const;
  /// The codes of the languages that a tokenizer of many languages knows; empty for others.
  std::vector<std::string> languages() const;

 private:
  std::unique_ptr<TokenizePipeline> pipeline_;
};

}  // namespace glassformer
