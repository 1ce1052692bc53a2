#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "text/component.hpp"

namespace glassformer {

/// One place in a model's input: a text's tokens, or a special token.
struct TemplatePart {
  enum class Kind : std::uint8_t { first_text, second_text, special };
  Kind kind;
  std::int32_t id;    // of the special token
  std::int32_t type;  // token type ("segment") of the tokens here
};

/// What a model expects around one text, and around two.
struct TokenTemplate {
  std::vector<TemplatePart> single{{TemplatePart::Kind::first_text, 0, 0}};
  std::vector<TemplatePart> pair{{TemplatePart::Kind::first_text, 0, 0},
                                 {TemplatePart::Kind::second_text, 0, 1}};
};

/// What separates two texts: the last special token, once or twice. Token types are 1 from the
/// second text on, or 0 everywhere.
enum class Separator { once_with_types, twice_with_types, twice };

/// A special token before the texts and one behind each.
TokenTemplate surrounded(std::int32_t first, std::int32_t last, Separator separator);

/// What a tokenizer.json does with tokens under "post_processor".
struct PostProcessor {
  TokenTemplate around;
  bool trim_offsets = false;  // a token's range leaves out white space at its ends
  bool has_prefix = false;    // the first space of a text was added by the pre-tokenizer
};

/// Reads a component, or several in a row. Throws unsupported for one of another type.
PostProcessor read_post_processor(const JsonValue& json, std::string_view path);

}  // namespace glassformer
