#pragma once

#include <string>
#include <vector>

#include "explain/contrast.hpp"
#include "explain/next_token.hpp"
#include "families/config/model_config.hpp"
#include "glassformer/explainer.hpp"
#include "text/tokenizer.hpp"

namespace glassformer {

/// Runs a decoder for these tensors. Throws `too_large` where they would take too much memory.
NextTokenRun trace_next_token(const WriterRunner& model, const DecodedText& text,
                              std::vector<std::string> names);

/// Why a decoder, alone or behind an encoder, writes one token and not another: the ledger of it,
/// column by column.
class NextTokenLedger {
 public:
  /// `never`: tokens that are no rivals, as they are never put out; or empty. All outlive this.
  NextTokenLedger(const WriterRunner& model, const Tokenizer& tokenizer,
                  const std::vector<bool>& never);

  /// How many tokens there are texts for.
  std::size_t vocabulary() const;
  /// Throws `invalid_option` for tokens that there are not.
  void expect_tokens(const NextLedgerOptions& options) const;

  /// The sum, without effects. Throws `too_large`, `non_finite`.
  NextLedger sum(const DecodedText& text, const NextLedgerOptions& options) const;
  /// The effect of the first column that lacks one.
  void measure_next(const DecodedText& text, NextLedger& result) const;

 private:
  std::int32_t likeliest(std::span<const float> logits, std::optional<std::int32_t> but) const;
  Contrast contrast_of(const NextLedger& of) const;

  WriterRunner model_;
  const Tokenizer& tokenizer_;
  const std::vector<bool>& never_;
};

/// Whether a ledger has all that was asked for.
inline bool is_whole(const NextLedger& result, const NextLedgerOptions& options) {
  return !options.effects || result.ledger.effects.size() == result.ledger.columns.size();
}

}  // namespace glassformer
