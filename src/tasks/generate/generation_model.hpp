#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "families/config/model_config.hpp"
#include "models/runner.hpp"
#include "text/tokenizer.hpp"

namespace glassformer {

/// A text as a model that writes reads it.
struct GenerationInput {
  std::vector<Token> tokens;              ///< of the text, special ones included
  bool clipped = false;                   ///< it had more
  std::vector<std::int32_t> source = {};  ///< what an encoder reads: the text; empty: there is none
  std::vector<std::int32_t> prompt = {};  ///< what the decoder reads first: one token at least
};

/// A model that writes texts, and how a text gets into it.
class GenerationModel {
 public:
  virtual ~GenerationModel() = default;

  virtual std::vector<NamedParameter> parameters() = 0;
  /// The part that writes.
  virtual const LanguageModel& decoder() const = 0;
  WriterRunner runner() { return {decoder(), session_}; }
  Session& session() { return session_; }

  /// What the model reads of a text behind the prefix of `settings`; `new_tokens`: how many are to
  /// be written. An empty text is begun with the bos token; throws `empty_input` for a text without
  /// tokens where there is none.
  virtual GenerationInput read(std::string_view text, std::size_t new_tokens,
                               const GenerationConfig& settings) const = 0;
  /// What is computed once for a text, before its decodings: of an encoder.
  virtual Seq2Seq::Encoded encode(const GenerationInput& input, const TraceRequest& request) = 0;

 private:
  Session session_;
};

/// The model of a configuration: a decoder, which goes on with the text, or one that answers what
/// an encoder has read. The tokenizer outlives it. Throws `invalid_tokenizer` where the vocabulary
/// is too large, `invalid_config` where what stands around texts is not there or leaves no room.
std::unique_ptr<GenerationModel> make_generation_model(const ModelConfig& config,
                                                       const Tokenizer& tokenizer, Compute compute);

}  // namespace glassformer
