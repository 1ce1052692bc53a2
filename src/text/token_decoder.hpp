#pragma once

#include <memory>
#include <string>
#include <vector>

#include "text/component.hpp"

namespace glassformer {

/// Turns tokens into text again: one of the components that a tokenizer.json names under
/// "decoder", or several in a row. The text is the results joined.
class TokenDecoder {
 public:
  virtual ~TokenDecoder() = default;
  virtual std::vector<std::string> decode(std::vector<std::string> tokens) const = 0;
};

/// Reads a component. Throws unsupported for one of another type.
std::unique_ptr<TokenDecoder> read_decoder(const JsonValue& json, std::string_view path);

/// For a tokenizer.json without one: a space between tokens.
std::unique_ptr<TokenDecoder> make_spacing_decoder();

}  // namespace glassformer
