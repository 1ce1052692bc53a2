#pragma once

#include <string>
#include <vector>

#include "explain/contrast.hpp"
#include "explain/next_token.hpp"
#include "families/config/model_config.hpp"
#include "glassformer/explainer.hpp"
#include "text/tokenizer.hpp"

namespace glassformer {

/// Runs a decoder and returns these tensors. Throws `too_large` if they would take too much memory.
NextTokenRun trace_next_token(const WriterRunner& model, const DecodedText& text,
                              std::vector<std::string> names);

/// Explains why a decoder, with or without an encoder, writes one token and not another: computes
/// the ledger, column by column.
class NextTokenLedger {
 public:
  /// `never`: marks tokens that are never written, so that they are not compared with; may be
  /// empty. All arguments must outlive this.
  NextTokenLedger(const WriterRunner& model, const Tokenizer& tokenizer,
                  const std::vector<bool>& never);

  /// Returns the number of tokens that have a text.
  std::size_t vocabulary() const;
  /// Throws `invalid_option` for tokens that do not exist.
  void expect_tokens(const NextLedgerOptions& options) const;

  /// Computes the sum, without effects. Throws `too_large`, `non_finite`.
  NextLedger sum(const DecodedText& text, const NextLedgerOptions& options) const;
  /// Measures the effect of the first column without one.
  void measure_next(const DecodedText& text, NextLedger& result) const;

 private:
  std::int32_t likeliest(std::span<const float> logits, std::optional<std::int32_t> but) const;
  Contrast contrast_of(const NextLedger& of) const;

  WriterRunner model_;
  const Tokenizer& tokenizer_;
  const std::vector<bool>& never_;
};

/// Whether a ledger is complete: has everything that was requested.
inline bool is_whole(const NextLedger& result, const NextLedgerOptions& options) {
  return !options.effects || result.ledger.effects.size() == result.ledger.columns.size();
}

}  // namespace glassformer
