#pragma once

#include <memory>
#include <string>
#include <vector>

#include "text/composed/component.hpp"

namespace glassformer {

/// Turns tokens into text. Corresponds to "decoder" of a tokenizer.json: one component or a
/// sequence of them. The text is the concatenation of the results.
class TokenDecoder {
 public:
  virtual ~TokenDecoder() = default;
  virtual std::vector<std::string> decode(std::vector<std::string> tokens) const = 0;
};

/// Reads a component. Throws unsupported for an unsupported type.
std::unique_ptr<TokenDecoder> read_decoder(const JsonValue& json, std::string_view path);

/// Creates the decoder for a tokenizer.json without one: joins tokens with spaces.
std::unique_ptr<TokenDecoder> make_spacing_decoder();

}  // namespace glassformer
