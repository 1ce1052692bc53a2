#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "text/composed/component.hpp"

namespace glassformer {

/// One item of a model's input: a text's tokens, or a special token.
struct TemplatePart {
  enum class Kind : std::uint8_t { first_text, second_text, special };
  Kind kind;
  std::int32_t id;    // of the special token
  std::int32_t type;  // token type ("segment") of the tokens here
};

/// The special tokens that a model expects around one text, and around two.
struct TokenTemplate {
  std::vector<TemplatePart> single{{TemplatePart::Kind::first_text, 0, 0}};
  std::vector<TemplatePart> pair{{TemplatePart::Kind::first_text, 0, 0},
                                 {TemplatePart::Kind::second_text, 0, 1}};
};

/// The separator of two texts: the last special token, once or twice. Token types are 1 from the
/// second text on, or 0 everywhere.
enum class Separator { once_with_types, twice_with_types, twice };

/// Creates a template with one special token before the texts and one after each.
TokenTemplate surrounded(std::int32_t first, std::int32_t last, Separator separator);

/// The effect of "post_processor" of a tokenizer.json on tokens.
struct PostProcessor {
  TokenTemplate around;
  bool trim_offsets = false;  // token ranges exclude white space at their ends
  bool has_prefix = false;    // the first space of a text was added by the pre-tokenizer
};

/// Reads a component or a sequence of them. Throws unsupported for an unsupported type.
PostProcessor read_post_processor(const JsonValue& json, std::string_view path);

}  // namespace glassformer
