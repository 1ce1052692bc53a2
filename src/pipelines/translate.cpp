#include "pipelines/translate.hpp"

#include <algorithm>

#include "io/decimal.hpp"
#include "io/json_writer.hpp"
#include "pipelines/special_tokens.hpp"

namespace glassformer {
namespace {

// What the tokenizer puts before a text and behind it.
std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>> around(const Tokenizer& tokenizer) {
  std::vector<std::int32_t> prefix, suffix;
  bool behind = false;
  for (const TemplatePart& part : tokenizer.around().single) {
    if (part.kind == TemplatePart::Kind::special) {
      (behind ? suffix : prefix).push_back(part.id);
    } else {
      behind = true;
    }
  }
  return {prefix, suffix};
}

SourceReader make_reader(const ModelConfig& config, const Tokenizer& tokenizer) {
  auto [prefix, suffix] = around(tokenizer);
  if (!config.tokenizer_template) {
    prefix = ids_of(config.prefix_tokens, "prefix_tokens", tokenizer);
    suffix = ids_of(config.suffix_tokens, "suffix_tokens", tokenizer);
  }
  expect_room(config.encoder().max_length, prefix.size() + suffix.size());
  return {tokenizer, std::move(prefix), std::move(suffix), config.encoder().max_length};
}

bool is_control_character(char c) { return static_cast<unsigned char>(c) < ' '; }

SpecialTokens special_tokens(const ModelConfig& config, const Tokenizer& tokenizer) {
  SpecialTokens special;
  special.start = ids_of(std::span(&config.start_token, 1), "start_token", tokenizer)[0];
  special.end = ids_of(std::span(&config.end_token, 1), "end_token", tokenizer)[0];
  special.never.assign(config.decoder().vocab_size, true);
  for (std::size_t i = 0; i < tokenizer.size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    // Nor control characters: a sentence has no line breaks in it.
    const std::string text = tokenizer.display_text(id);
    special.never[i] = tokenizer.is_control(id) || id == tokenizer.unk_id() ||
                       id == special.start || std::ranges::any_of(text, is_control_character);
  }
  special.never[static_cast<std::size_t>(special.end)] = false;
  return special;
}

[[noreturn]] void refuse(const Message& problem) {
  throw_error(ErrorCode::invalid_option, problem);
}

void check_head(const std::string& option, std::size_t layer, std::size_t layers, std::size_t head,
                std::size_t heads) {
  if (layer < layers && head < heads) return;
  refuse({"{}: expected layers below {} and heads below {}, got layer {}, head {}",
          {option, layers, heads, layer, head}});
}

}  // namespace

TranslatePipeline::TranslatePipeline(ModelConfig config, std::unique_ptr<const Tokenizer> source,
                                     std::unique_ptr<const Tokenizer> target, Compute compute,
                                     std::optional<std::span<const std::byte>> shortlist)
    : config_(expect_task(std::move(config), task)),
      source_tokenizer_(std::move(source)),
      target_tokenizer_(std::move(target)),
      reader_(make_reader(config_, *source_tokenizer_)),
      model_(config_.architecture, compute) {
  expect_vocabulary(source_tokenizer(), "source_vocab_size", config_.encoder().vocab_size);
  expect_vocabulary(target_tokenizer(), "target_vocab_size", config_.decoder().vocab_size);
  special_ = special_tokens(config_, target_tokenizer());
  if (shortlist) {
    shortlist_ =
        Shortlist::parse(*shortlist, config_.encoder().vocab_size, config_.decoder().vocab_size);
  }
}

std::vector<std::int32_t> TranslatePipeline::choices(std::span<const std::int32_t> source) const {
  std::vector<std::int32_t> others = {special_.end};
  if (!target_tokenizer_) others.insert(others.end(), source.begin(), source.end());  // names
  return shortlist_->choices(source, others);
}

void TranslatePipeline::check(const TranslateOptions& options) const {
  if (options.beams < 1 || options.beams > max_beams) {
    refuse({"beams: expected 1 to {}, got {}", {max_beams, options.beams}});
  }
  if (!(options.length_penalty >= 0 && options.length_penalty <= max_length_penalty)) {
    refuse({"lengthPenalty: expected 0 to {}, got {}",
            {shortest_decimal(max_length_penalty), shortest_decimal(options.length_penalty)}});
  }
  for (const HeadIndex& head : options.ablate) {
    const bool encoder = head.attention == AttentionSite::encoder;
    const StackConfig& stack = encoder ? config_.encoder() : config_.decoder();
    check_head("ablate", head.layer, stack.layers, head.head, stack.n_heads);
  }
  if (!options.alignment) return;
  const std::size_t layer = options.alignment->layer.value_or(0);
  check_head("alignment", layer, config_.decoder().layers, 0, config_.decoder().n_heads);
  for (const std::size_t head : options.alignment->heads) {
    check_head("alignment", layer, config_.decoder().layers, head, config_.decoder().n_heads);
  }
}

Translation TranslatePipeline::translate(std::string_view text, const TranslateOptions& options) {
  return only(translate_batch(std::span(&text, 1), options));
}

std::vector<std::variant<Translation, Error>> TranslatePipeline::translate_batch(
    std::span<const std::string_view> texts, const TranslateOptions& options) {
  TranslationJob job = begin(texts, options);
  while (job.step()) {
  }
  return job.take_results();
}

}  // namespace glassformer
