#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "families/config/model_config.hpp"
#include "glassformer/translator.hpp"
#include "models/runner.hpp"
#include "search/constraints.hpp"
#include "search/search.hpp"
#include "search/shortlist.hpp"
#include "tasks/pipeline.hpp"
#include "tasks/translate/alignment.hpp"
#include "tasks/translate/source_reader.hpp"
#include "text/tokenizer.hpp"

namespace glassformer {

template <class Visit>
void fields(Visit& visit, AlignmentOptions& options) {
  visit("layer", options.layer);
  visit("heads", options.heads, "heads' numbers");
}

template <class Visit>
void fields(Visit& visit, TranslateOptions& options) {
  visit("beams", options.beams);
  visit("lengthPenalty", options.length_penalty);
  visit("earlyStopping", options.early_stopping);
  visit("maxLength", options.max_length, 1);
  visit("prefixes", options.prefixes, "ids");
  visit("maskTokens", options.mask_tokens, "positions of tokens");
  visit("attention", options.attention);
  visit("hypotheses", options.hypotheses);
  visit("stream", options.stream);
  visit("trace", options.trace);
  visit("patch", options.patch);
  visit("ablate", options.ablate, 3);
  visit.flag_or_options("alignment", options.alignment);
}

template <class Visit>
void fields(Visit& visit, const TextRange& range) {
  visit("start", range.start);
  visit("end", range.end);
}

template <class Visit>
void fields(Visit& visit, const AlignmentLink& link) {
  visit("target", link.target);
  visit("source", link.source);
  visit("weight", link.weight);
}

template <class Visit>
void fields(Visit& visit, const SearchNode& node) {
  visit("parent", node.parent);
  visit("id", node.id);
  visit("text", node.text);
  visit("logprob", node.logprob);
  visit("total", node.total);
  visit("kept", node.kept);
}

template <class Visit>
void fields(Visit& visit, SentenceTranslation& sentence) {
  fields(visit, sentence.output);
  visit("start", sentence.start);
  visit("end", sentence.end);
  visit("targetStart", sentence.target_start);
  visit("targetEnd", sentence.target_end);
  visit("clipped", sentence.clipped);
  visit("sourceTokens", sentence.source_tokens);
  if (sentence.cross) {
    visit.attention({&sentence.encoder, &sentence.decoder, &sentence.cross});
  }
  visit.trace(std::move(sentence.trace));
  visit("alignment", sentence.alignment);
  if (sentence.tree.empty()) return;
  visit("hypotheses", sentence.hypotheses);
  visit("tree", sentence.tree);
}

template <class Visit>
void fields(Visit& visit, Translation& result) {
  visit("text", result.text);
  visit("score", result.score);
  visit.each("sentences", result.sentences,
             [&](SentenceTranslation& sentence) { fields(visit, sentence); });
}

/// A token as it leaves the decoder. An end token adds nothing to the text, and does not.
struct StreamedToken {
  std::size_t text, sentence;  ///< which of the texts, and which of its sentences
  OutputToken token;
  /// With attention: how this step spread it, [L, H, 1, T] and [L, H, 1, S].
  std::optional<AttentionMap> decoder, cross;
  /// With a sentence's first token: what stands between the text that the last step showed and the
  /// sentence's output.
  std::string before = {};
};

class TranslationJob;

/// Translates texts: splits them into sentences, tokenizes, searches, and joins the translations
/// with the spacing of the input.
class TranslatePipeline final : public Pipeline {
 public:
  using Options = TranslateOptions;
  static constexpr std::array tasks = {Task::translation};
  /// The longest text, in bytes.
  static constexpr std::size_t max_text_bytes = 1 << 20;

  /// Without a target tokenizer, the source's serves both sides. With a shortlist.bin, translations
  /// are made of tokens that it offers for their source, and log-probabilities are among those.
  /// Throws `wrong_task` unless the configuration describes a translation model, `invalid_config`
  /// where a special token is not a piece, `invalid_tokenizer` where a vocabulary is too large,
  /// `invalid_shortlist`.
  TranslatePipeline(ModelConfig config, std::unique_ptr<const Tokenizer> source,
                    std::unique_ptr<const Tokenizer> target = {}, Compute compute = Compute::f32,
                    std::optional<std::span<const std::byte>> shortlist = {});
  TranslatePipeline(const TranslatePipeline&) = delete;
  TranslatePipeline& operator=(const TranslatePipeline&) = delete;

  std::vector<NamedParameter> parameters() override { return model_.parameters(); }
  const ModelConfig& config() const override { return config_; }
  Compute compute() const override { return model_.compute(); }
  const Tokenizer* vocabulary() const override { return &target_tokenizer(); }
  const Tokenizer& source_tokenizer() const { return *source_tokenizer_; }
  const Tokenizer& target_tokenizer() const {
    return target_tokenizer_ ? *target_tokenizer_ : *source_tokenizer_;
  }
  const Seq2Seq& model() const { return model_; }
  Session& session() { return session_; }
  WriterRunner runner() { return {model_, session_}; }
  const SpecialTokens& specials() const { return special_; }

  /// Starts on several texts. Throws `invalid_option` for beams, heads, layers or names that do not
  /// exist.
  /// A text without tokens gets the error `empty_input` and leaves the others alone; so do one of
  /// over max_text_bytes, one whose trace may take more than max_trace_bytes or one
  /// of whose sentences may need a search of more than max_search_bytes (`too_large`), and one to
  /// whose tokens the model gives probabilities that are not finite (`non_finite`). A sentence over
  /// the model's limit is cut at clauses or words; what has none is clipped. Any number of jobs may
  /// be under way; the pipeline outlives them.
  TranslationJob begin(std::span<const std::string_view> texts,
                       const TranslateOptions& options = {});
  std::unique_ptr<Job> begin(const TaskInputs& inputs, const TaskOptions& options) override;

  /// All at once. Throws a text's own error.
  Translation translate(std::string_view text, const TranslateOptions& options = {});
  Results<Translation> translate_batch(std::span<const std::string_view> texts,
                                       const TranslateOptions& options = {});

 private:
  friend class TranslationJob;
  void check(const TranslateOptions& options) const;
  SearchOptions search_of(const TranslateOptions& options) const;
  // Whether the search is the library's, and not ours.
  bool as_library(const TranslateOptions& options) const {
    return options.early_stopping || config_.generation.early_stopping;
  }
  // The tokens that a source's translation may have, by the shortlist, and those that it has to
  // have.
  std::vector<std::int32_t> choices(std::span<const std::int32_t> source,
                                    std::span<const std::int32_t> prefix) const;

  ModelConfig config_;
  std::unique_ptr<const Tokenizer> source_tokenizer_;
  std::unique_ptr<const Tokenizer> target_tokenizer_;  // null: the same
  SourceReader reader_;
  SpecialTokens special_;
  SpecialTokens library_special_;    // of a search as the library transformers does it
  Constraints library_constraints_;  // of the same
  std::optional<Shortlist> shortlist_;
  Seq2Seq model_;
  Session session_;
};

/// Translations under way.
class TranslationJob final : public TypedJob<Translation> {
 public:
  TranslationJob(TranslationJob&&) noexcept;
  TranslationJob& operator=(TranslationJob&&) noexcept;
  ~TranslationJob() override;

  /// Reads some texts, encodes the next sentences, decodes one token of each sentence at work, or
  /// runs one that is done once more for its attention.
  bool step() override;
  bool done() const;

  /// With options.stream: the token that the last step emitted, if it was a decoding step. With
  /// beams > 1 it is the last token of the hypothesis in the lead, and may not be the final word.
  const std::optional<StreamedToken>& streamed() const;
  /// With options.stream: the output of text `i` so far, whole characters only. Greedy, every one
  /// is a prefix of the next.
  std::string text(std::size_t i) const;
  /// What is known of the sentence of streamed(): its range and source tokens, the output so far
  /// (offsets in its own text) and, with attention, the encoder's.
  const SentenceTranslation& sentence() const;
  /// Writes streamed() as {token, text, before?, sentence?: {index, start, end, targetStart,
  /// sourceTokens}, attention?: {encoder?, decoder, cross}}. `text` is the sentence's output so
  /// far, with what follows the last one; `before` goes between what the step before showed and
  /// that. `before`, `sentence` and `encoder` come with a sentence's first token.
  bool show(ResultWriter& writer) override;

  Results<Translation> take() override;

 private:
  friend class TranslatePipeline;
  struct State;
  explicit TranslationJob(std::unique_ptr<State> state);
  void write_fields(ResultWriter& writer, Translation& result) override { fields(writer, result); }

  std::unique_ptr<State> state_;
};

}  // namespace glassformer
