#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/tasks/explain.hpp"
#include "explain/contrast.hpp"
#include "explain/next_token.hpp"
#include "families/config/model_config.hpp"
#include "tasks/explain/explanation.hpp"
#include "text/tokenizer.hpp"

namespace glassformer {

class TranslatePipeline;

/// Runs a decoder and returns these tensors. Throws `too_large` if they would take too much memory.
NextTokenRun trace_next_token(const WriterRunner& model, const DecodedText& text,
                              std::vector<std::string> names);

/// The empty list of tokens that may never come.
inline const std::vector<bool> allow_all_tokens;

/// Explains why a decoder, with or without an encoder, writes one token and not another: computes
/// the attribution, column by column.
class NextTokenAttribution {
 public:
  /// `never`: marks tokens that are never written, so that they are not compared with; may be
  /// empty. All arguments must outlive this.
  NextTokenAttribution(const WriterRunner& model, const Tokenizer& tokenizer,
                       const std::vector<bool>& never);

  const Tokenizer& tokenizer() const { return tokenizer_; }
  /// Returns the number of tokens that have a text.
  std::size_t vocabulary() const;
  /// Throws `invalid_option`, naming the option, for a token that does not exist.
  void expect_token(const char* option, std::int32_t id) const;
  /// Throws `invalid_option` for tokens that do not exist.
  void expect_tokens(const NextAttributionOptions& options) const;

  /// Returns the two tokens that are compared, given the logits [V] of the next one, without a sum.
  /// Throws `non_finite`.
  NextLogitAttribution choose(std::span<const float> logits,
                              const NextAttributionOptions& options) const;
  /// Returns the number that compares these tokens.
  Contrast contrast_of(const NextLogitAttribution& of) const;

  /// Computes the sum, without effects. Throws `too_large`, `non_finite`.
  NextLogitAttribution sum(const DecodedText& text, const NextAttributionOptions& options) const;
  /// Measures the effect of the first column without one.
  void measure_next(const DecodedText& text, NextLogitAttribution& result) const;

 private:
  std::int32_t likeliest(std::span<const float> logits, std::optional<std::int32_t> but) const;

  WriterRunner model_;
  const Tokenizer& tokenizer_;
  const std::vector<bool>& never_;
};

/// The place of a token in the translation of a text.
struct TranslatedPlace {
  std::optional<std::string> from = {}, to = {};
  std::size_t beams = 1, sentence = 0, position = 0;
  std::vector<std::int32_t> prefix = {};  ///< ids that the translation must begin with
};

/// A place, as a translator came to it.
struct ReachedPlace {
  ExplainedSentence sentence;
  std::vector<std::int32_t> decoded;  ///< the tokens read, beginning with the start token
  Seq2Seq::Encoded encoded;           ///< the source
  std::int32_t own = 0;               ///< the token that the translation has there

  DecodedText text() const { return {decoded, &encoded}; }
};

/// Translates a sentence up to a place. Throws `invalid_option` for a place that does not exist,
/// and the errors of TranslatePipeline::translate.
ReachedPlace reach(TranslatePipeline& pipeline, std::string_view text,
                   const TranslatedPlace& place);

/// Whether an attribution is complete: has everything that was requested.
inline bool is_whole(const NextLogitAttribution& result, const NextAttributionOptions& options) {
  return !options.effects || result.attribution.effects.size() == result.attribution.columns.size();
}

}  // namespace glassformer
