#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "families/config/model_config.hpp"
#include "models/runner.hpp"
#include "text/tokenizer.hpp"

namespace glassformer {

/// A text, as a model that writes reads it.
struct GenerationInput {
  std::vector<Token> tokens;              ///< of the text, special ones included
  bool clipped = false;                   ///< the text had more tokens
  std::vector<std::int32_t> source = {};  ///< the text, for an encoder; empty without one
  std::vector<std::int32_t> prompt = {};  ///< read by the decoder first; at least one token
};

/// A model that writes texts. It also reads its input.
class GenerationModel {
 public:
  virtual ~GenerationModel() = default;

  virtual std::vector<NamedParameter> parameters() = 0;
  /// The part that writes.
  virtual const LanguageModel& decoder() const = 0;

  /// Reads a text, with the prefix of `settings` before it. `new_tokens`: how many tokens are to be
  /// written. An empty text is replaced by the bos token. Throws `empty_input` for a text without
  /// tokens if there is no such token.
  virtual GenerationInput read(std::string_view text, std::size_t new_tokens,
                               const GenerationConfig& settings) const = 0;
  /// Runs the encoder, if there is one. Called once per text, before decoding.
  virtual Seq2Seq::Encoded encode(const GenerationInput& input, const TraceRequest& request,
                                  Session& session) const = 0;
};

/// Makes the model of a configuration: a decoder that continues the text, or an encoder with a
/// decoder that answers it. The tokenizer must outlive the model. Throws `invalid_tokenizer` if the
/// vocabulary is too large, and `invalid_config` if special tokens around texts do not exist or
/// leave no space for a text.
std::unique_ptr<GenerationModel> make_generation_model(const ModelConfig& config,
                                                       const Tokenizer& tokenizer, Compute compute);

}  // namespace glassformer
