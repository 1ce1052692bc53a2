#include "tasks/translate/translate.hpp"

#include <algorithm>

#include "tasks/reading/token_checks.hpp"
#include "tasks/search_plan.hpp"

#include "tasks/make_pipeline.hpp"

namespace glassformer {
namespace {

constexpr std::size_t usual_beams = 4;

bool is_control_character(char c) { return static_cast<unsigned char>(c) < ' '; }

SpecialTokens special_tokens(const ModelConfig& config, const Tokenizer& tokenizer) {
  SpecialTokens special;
  special.start = ids_of(std::span(&config.start_token, 1), "start_token", tokenizer)[0];
  special.end = ids_of(std::span(&config.end_token, 1), "end_token", tokenizer)[0];
  special.never.assign(config.decoder().vocab_size(), true);
  for (std::size_t i = 0; i < std::min(tokenizer.size(), special.never.size()); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    // Control characters are never written either: a sentence has no line breaks.
    const std::string text = tokenizer.display_text(id);
    special.never[i] = tokenizer.is_control(id) || id == tokenizer.unk_id() ||
                       id == special.start || std::ranges::any_of(text, is_control_character);
  }
  special.never[static_cast<std::size_t>(special.end)] = false;
  return special;
}

// The transformers library may write any token that the folder does not forbid.
SpecialTokens library_special_tokens(const ModelConfig& config, const SpecialTokens& ours) {
  SpecialTokens special = {.start = ours.start, .end = ours.end, .never = {}};
  special.never.assign(config.decoder().vocab_size(), false);
  for (const std::vector<std::int32_t>& word : config.generation.never) {
    if (word.size() == 1) special.never[static_cast<std::size_t>(word[0])] = true;
  }
  for (const std::int32_t id : config.generation.end_ids) {
    if (id != special.end) special.other_ends.push_back(id);
  }
  return special;
}

// Returns the constraints on such a search, if any. The search itself skips forbidden words of one
// token.
Constraints library_constraints(const GenerationConfig& folder, const SpecialTokens& special) {
  Constraints constraints = {
      .repetition_penalty = folder.sampling.repetition_penalty.value_or(1.0f),
      .encoder_repetition_penalty = folder.sampling.encoder_repetition_penalty.value_or(1.0f),
      .rules = {.no_repeat_ngram = folder.sampling.no_repeat_ngram_size.value_or(0),
                .min_length = least_length({}, folder, 1),  // the start token is read
                .ends = special.other_ends,
                .second = folder.second_token}};
  constraints.rules.ends.push_back(special.end);
  const bool words = std::ranges::any_of(folder.never, [](auto& word) { return word.size() > 1; });
  if (words || !constraints.empty()) constraints.rules.never = folder.never;
  return constraints;
}

}  // namespace

TranslatePipeline::TranslatePipeline(ModelConfig config, std::unique_ptr<const Tokenizer> source,
                                     std::unique_ptr<const Tokenizer> target, Compute compute,
                                     std::optional<std::span<const std::byte>> shortlist)
    : config_(expect_task(std::move(config), tasks)),
      source_tokenizer_(std::move(source)),
      target_tokenizer_(std::move(target)),
      reader_(config_, *source_tokenizer_),
      model_(config_.architecture, compute) {
  expect_vocabulary(config_, source_tokenizer(), "source_vocab_size",
                    config_.encoder().vocab_size());
  expect_vocabulary(config_, target_tokenizer(), "target_vocab_size",
                    config_.decoder().vocab_size());
  special_ = special_tokens(config_, target_tokenizer());
  library_special_ = library_special_tokens(config_, special_);
  library_constraints_ = library_constraints(config_.generation, library_special_);
  if (shortlist) {
    shortlist_ = Shortlist::parse(*shortlist, config_.encoder().vocab_size(),
                                  config_.decoder().vocab_size());
  }
}

std::vector<std::int32_t> TranslatePipeline::choices(std::span<const std::int32_t> source,
                                                     std::span<const std::int32_t> prefix) const {
  std::vector<std::int32_t> others(prefix.begin(), prefix.end());
  others.push_back(special_.end);
  if (!target_tokenizer_) others.insert(others.end(), source.begin(), source.end());  // for names
  return shortlist_->choices(source, others);
}

SearchOptions TranslatePipeline::search_of(const TranslateOptions& options) const {
  check_ranges(options);
  const GenerationConfig& folder = config_.generation;
  if (as_library(options)) {
    const SearchWishes wishes = {options.beams.value_or(folder.beams.value_or(1)),
                                 options.length_penalty, options.early_stopping};
    return library_search(wishes, folder);
  }
  const SearchOptions search = {.beams = options.beams.value_or(usual_beams),
                                .length_penalty = options.length_penalty.value_or(1.0f)};
  expect_beams(search.beams);
  expect_between("length_penalty", 0, max_length_penalty, search.length_penalty);
  return search;
}

TranslationLanguages TranslatePipeline::chosen_languages() const {
  return {config_, source_tokenizer(), special_.start};
}

std::int32_t TranslatePipeline::start_for(const TranslateOptions& options) const {
  return chosen_languages().start(options.to);
}

SourceReader TranslatePipeline::reader_for(const TranslateOptions& options) const {
  const auto id = chosen_languages().source(options.from);
  return id ? reader_.with_language(*id) : reader_;
}

Constraints TranslatePipeline::constraints_for(const TranslateOptions& options) const {
  Constraints constraints = as_library(options) ? library_constraints_ : Constraints();
  constraints.rules.second = chosen_languages().second(options.to, constraints.rules.second);
  return constraints;
}

void TranslatePipeline::check(const TranslateOptions& options) const {
  for (const std::vector<std::int32_t>& prefix : options.prefixes) {
    for (std::size_t i = 0; i < prefix.size(); ++i) {
      const auto id = static_cast<std::size_t>(prefix[i]);
      const bool last = i + 1 == prefix.size();
      if (id < config_.decoder().vocab_size() && (last || prefix[i] != special_.end)) continue;
      refuse_option("prefixes", {"expected ids below {}, and the end token only at the end, got {}",
                                 {config_.decoder().vocab_size(), prefix[i]}});
    }
  }
  for (const HeadIndex& head : options.ablate) {
    const bool encoder = head.attention == AttentionSite::encoder;
    if (head.attention == AttentionSite::decoder && config_.decoder().recurrent()) {
      throw_error(
          ErrorCode::unsupported,
          "ablate: expected heads of the encoder or of cross-attention, as this decoder has "
          "a recurrent unit instead of self-attention");
    }
    expect_head("ablate", head.layer, head.head, encoder ? config_.encoder() : config_.decoder());
  }
  if (!options.alignment) return;
  const std::size_t layer = options.alignment->layer.value_or(0);
  expect_head("alignment", layer, 0, config_.decoder());
  for (const std::size_t head : options.alignment->heads) {
    expect_head("alignment", layer, head, config_.decoder());
  }
}

Translation TranslatePipeline::translate(std::string_view text, const TranslateOptions& options) {
  return only(translate_batch(std::span(&text, 1), options));
}

Results<Translation> TranslatePipeline::translate_batch(std::span<const std::string_view> texts,
                                                        const TranslateOptions& options) {
  return run_all(*begin(texts, options));
}

std::unique_ptr<Pipeline> make_translate(PipelineParts& parts) {
  return std::make_unique<TranslatePipeline>(std::move(parts.config), std::move(parts.tokenizer),
                                             std::move(parts.target_tokenizer), parts.compute,
                                             parts.shortlist);
}

}  // namespace glassformer
