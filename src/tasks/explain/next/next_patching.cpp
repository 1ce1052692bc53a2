#include "tasks/explain/next/next_patching.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "explain/gradients.hpp"
#include "kernels/kernels.hpp"
#include "tasks/limits.hpp"

namespace glassformer {
namespace {

// With more tokens, a cell is a word.
constexpr std::size_t most_single_cells = 64;

bool is_special(const InputToken& token) { return token.start == token.end; }

bool starts_word(const InputToken& token) {
  return is_special(token) || token.text.starts_with(' ') || token.text.starts_with('\n') ||
         token.text.starts_with('\t');
}

std::vector<std::int32_t> ids_of(std::span<const InputToken> tokens) {
  std::vector<std::int32_t> ids;
  for (const InputToken& token : tokens) ids.push_back(token.id);
  return ids;
}

std::vector<AlignedToken> to_align(std::span<const InputToken> tokens) {
  std::vector<AlignedToken> aligned;
  for (const InputToken& token : tokens) {
    aligned.push_back({token.id, is_special(token), starts_word(token)});
  }
  return aligned;
}

std::vector<std::size_t> cells_of(std::span<const InputToken> tokens) {
  std::vector<std::size_t> cells;
  for (const InputToken& token : tokens) {
    const bool starts = tokens.size() <= most_single_cells || starts_word(token);
    cells.push_back(cells.empty() ? 0 : cells.back() + (starts ? 1 : 0));
  }
  return cells;
}

class NextPatchingSteps final : public ExplanationSteps {
 public:
  NextPatchingSteps(PatchedPair pair, bool shows)
      : pair_(std::move(pair)), shows_(shows), previews_(shows && make_linked_tape) {}

  bool step() override {
    if (!pair_.token) return false;
    if (std::exchange(previews_, false) && preview()) return true;
    return pair_.patching.step();
  }
  std::optional<ExplainedInput> so_far() override {
    if (!shows_) return std::nullopt;
    return take();
  }
  ExplainedInput take() override {
    return {.tokens = pair_.tokens, .clipped = pair_.clipped, .part = result_of(pair_)};
  }

 private:
  // Returns whether the model has gradients.
  bool preview() {
    try {
      pair_.patching.preview();
      return true;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
      return false;
    }
  }

  PatchedPair pair_;
  bool shows_, previews_;
};

}  // namespace

PatchedPair align_pair(const WriterRunner& model, PatchedStack stack,
                       std::vector<InputToken> tokens, std::vector<InputToken> donor_tokens) {
  const StackConfig& config = config_of(model, stack);
  // The residual streams of both runs, and their copies.
  TraceBudget().take(saturating_product(
      {2 * (config.layers.size() + 1), config.d_model, tokens.size() + donor_tokens.size()}));
  const std::vector<AlignedToken> base = to_align(tokens), donor = to_align(donor_tokens);
  NextPatchingTexts texts = {.stack = stack,
                             .base = ids_of(tokens),
                             .donor = ids_of(donor_tokens),
                             .alignment = stack == PatchedStack::encoder
                                              ? align_tokens(base, donor)
                                              : align_beginnings(base, donor),
                             .cells = cells_of(tokens)};
  return {.tokens = std::move(tokens),
          .donor_tokens = std::move(donor_tokens),
          .patching = NextPatching(model, std::move(texts))};
}

NextAttributionOptions parting_tokens(std::span<const float> base, std::span<const float> donor) {
  std::size_t is = largest(base), would = largest(donor);
  if (is == would) {
    const auto total = [](std::span<const float> logits) {
      return writing_kernels().log_sum_exp(logits.data(), logits.size());
    };
    const float of_base = total(base), of_donor = total(donor);
    std::vector<float> gains;
    for (std::size_t id = 0; id < base.size(); ++id) {
      gains.push_back(std::exp(donor[id] - of_donor) - std::exp(base[id] - of_base));
    }
    is = static_cast<std::size_t>(std::ranges::min_element(gains) - gains.begin());
    would = largest(gains);
    if (is == would) return {};
  }
  return {.token = static_cast<std::int32_t>(would), .against = static_cast<std::int32_t>(is)};
}

void compare(PatchedPair& pair, const NextTokenAttribution& attributions,
             const NextAttributionOptions& requested,
             std::optional<NextAttributionOptions> parting) {
  const std::size_t vocabulary = attributions.vocabulary();
  if (!parting) {
    parting = parting_tokens(pair.patching.base_logits().first(vocabulary),
                             pair.patching.donor_logits().first(vocabulary));
  }
  NextAttributionOptions options = requested;
  if (!options.token && parting->token != options.against) options.token = parting->token;
  if (!options.against && parting->against != options.token) options.against = parting->against;
  if (!options.token && !options.against) return;
  NextLogitAttribution chosen = attributions.choose(pair.patching.base_logits(), options);
  pair.patching.compare(attributions.contrast_of(chosen));
  pair.token = std::move(chosen.token);
  pair.against = std::move(chosen.against);
}

NextPatchingResult result_of(const PatchedPair& pair) {
  const TokenAlignment& aligned = pair.patching.alignment();
  return {.token = pair.token,
          .against = pair.against,
          .prefix = pair.prefix,
          .patching = {pair.patching.table(), pair.donor_tokens, aligned.donor_of,
                       aligned.base_columns, aligned.donor_columns}};
}

std::unique_ptr<ExplanationSteps> make_patching_steps(PatchedPair pair, bool shows) {
  return std::make_unique<NextPatchingSteps>(std::move(pair), shows);
}

}  // namespace glassformer
