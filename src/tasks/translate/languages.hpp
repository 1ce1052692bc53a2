#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "families/config/model_config.hpp"
#include "text/tokenizer.hpp"

namespace glassformer {

/// Finds the tokens that tell a translator of many languages what to read and to write. Languages
/// that are not given are those of the folder. All throw `invalid_option` for a language that the
/// model does not have, or if the model needs one and neither the caller nor the folder names it.
/// Configuration and tokenizer must outlive this.
class TranslationLanguages {
 public:
  /// `source`: the tokenizer of the texts. `start`: the usual first token of the decoder.
  TranslationLanguages(const ModelConfig& config, const Tokenizer& source, std::int32_t start)
      : config_(config), tokenizer_(source), start_(start) {}

  /// Returns the token of the texts' language, or nothing for a model of one pair of languages.
  std::optional<std::int32_t> source(const std::optional<std::string>& from) const;
  /// Returns the token that the decoder reads first: that of the language to write, in models whose
  /// start token is a language; otherwise always the same.
  std::int32_t start(const std::optional<std::string>& to) const;
  /// Returns the token that is forced after the first, if any. `folder`: the one that the folder's
  /// settings force.
  std::optional<std::int32_t> second(const std::optional<std::string>& to,
                                     std::optional<std::int32_t> folder) const;

 private:
  bool start_is_language() const;
  std::optional<std::int32_t> find(const char* option, const std::optional<std::string>& wanted,
                                   const std::string& usual) const;

  const ModelConfig& config_;
  const Tokenizer& tokenizer_;
  std::int32_t start_;
};

}  // namespace glassformer
