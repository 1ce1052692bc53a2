#include "tasks/explain/next/next_attribution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "explain/readings/direct_logit_attribution.hpp"
#include "explain/readings/head_loadings.hpp"
#include "kernels/kernels.hpp"
#include "run/trace/trace_plan.hpp"
#include "tasks/limits.hpp"
#include "tasks/options.hpp"

namespace glassformer {

NextTokenRun trace_next_token(const WriterRunner& model, const DecodedText& text,
                              std::vector<std::string> names) {
  const TracePlan plan(model.model, model.session, {.names = names});
  const std::size_t source = text.source ? text.source->sources.tokens() : 0;
  TraceBudget().take(plan.numbers({.source = source, .target = text.ids.size()}));
  return run_to_next_token(model, text, {.names = std::move(names)});
}

NextTokenAttribution::NextTokenAttribution(const WriterRunner& model, const Tokenizer& tokenizer,
                                           const std::vector<bool>& never)
    : model_(model), tokenizer_(tokenizer), never_(never) {}

std::size_t NextTokenAttribution::vocabulary() const {
  return std::min(tokenizer_.size(), model_->vocab_size());
}

void NextTokenAttribution::expect_token(const char* option, std::int32_t id) const {
  if (id >= 0 && static_cast<std::size_t>(id) < vocabulary()) return;
  refuse_option(option, {"expected the id of a token, below {}, got {}", {vocabulary(), id}});
}

void NextTokenAttribution::expect_tokens(const NextAttributionOptions& options) const {
  if (options.token) expect_token("token", *options.token);
  if (options.against) expect_token("against", *options.against);
  if (options.token && options.token == options.against) {
    refuse_option("against",
                  {"expected another id than that of token, got {}", {*options.against}});
  }
}

// Returns the most probable of the tokens that may be written, other than `but`.
std::int32_t NextTokenAttribution::likeliest(std::span<const float> logits,
                                             std::optional<std::int32_t> but) const {
  std::optional<std::size_t> best;
  for (std::size_t id = 0; id < vocabulary(); ++id) {
    if (static_cast<std::int32_t>(id) == but || (id < never_.size() && never_[id])) continue;
    if (!best || logits[id] > logits[*best]) best = id;
  }
  return static_cast<std::int32_t>(best.value_or(but == 0 ? 1 : 0));
}

NextLogitAttribution NextTokenAttribution::choose(std::span<const float> logits,
                                                  const NextAttributionOptions& options) const {
  const float total = writing_kernels().log_sum_exp(logits.data(), logits.size());
  if (!std::isfinite(total)) {
    throw_error(ErrorCode::non_finite, "text: expected finite logits of the next token");
  }
  const auto guess = [&](std::int32_t id) {
    return Guess{id, logits[static_cast<std::size_t>(id)] - total, tokenizer_.display_text(id)};
  };
  NextLogitAttribution result;
  result.token = guess(options.token.value_or(likeliest(logits, options.against)));
  result.against = guess(options.against.value_or(likeliest(logits, result.token.id)));
  return result;
}

NextLogitAttribution NextTokenAttribution::sum(const DecodedText& text,
                                               const NextAttributionOptions& options) const {
  if (vocabulary() < 2) {
    throw_error(ErrorCode::unsupported,
                "direct_logit_attribution: expected a vocabulary of at least two tokens");
  }
  const ExplainedStack stack = explained_stack(model_->decoder(), "decoder");
  std::vector<std::string> names = attribution_tensors(model_.model);
  if (options.loadings) add_loading_tensors(stack, model_->compute(), names);
  const NextTokenRun seen = trace_next_token(model_, text, std::move(names));
  NextLogitAttribution result = choose(seen.logits, options);
  HeadLoadings loadings(stack, seen.trace, model_.session);
  StreamLedger::Observer observer;
  if (options.loadings) observer = [&](const auto& gradients) { loadings.read(gradients); };
  result.attribution = direct_logit_attribution(model_.model, seen, contrast_of(result), observer);
  loadings.add_to(result.attribution);
  expect_finite(result.attribution.written);
  expect_finite(result.attribution.read);
  return result;
}

Contrast NextTokenAttribution::contrast_of(const NextLogitAttribution& of) const {
  return contrast_between(static_cast<std::size_t>(of.token.id),
                          static_cast<std::size_t>(of.against.id), model_->vocab_size());
}

void NextTokenAttribution::measure_next(const DecodedText& text,
                                        NextLogitAttribution& result) const {
  LogitAttribution& attribution = result.attribution;
  const LogitColumn& column = attribution.columns[attribution.effects.size()];
  attribution.effects.push_back(
      effect_of(model_, text, contrast_of(result), attribution.value, column));
}

}  // namespace glassformer
