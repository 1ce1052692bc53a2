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
#include "families/model_config.hpp"
#include "glassformer/translator.hpp"
#include "models/runner.hpp"
#include "search/beam_search.hpp"
#include "search/sampling.hpp"
#include "search/shortlist.hpp"
#include "tasks/pipeline.hpp"
#include "tasks/translate/alignment.hpp"
#include "tasks/translate/source_reader.hpp"
#include "text/tokenizer.hpp"

namespace glassformer {

/// {"beams": int, "lengthPenalty": number, "earlyStopping": bool or "never", "maxLength": int,
/// "prefixes": [[int]], "maskTokens": [[int]], "attention": bool, "alignment": bool or {"layer":
/// int, "heads": [int]}, "hypotheses": bool, "stream": bool, "trace": [name], "patch": [see
/// OptionsReader], "ablate":
/// [{"attention": "encoder", "decoder" or "cross", "layer": int, "head": int}]}, every field
/// optional. Throws `invalid_option` naming the field for anything else.
TranslateOptions parse_translate_options(const TaskOptions& task);

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

/// Text to translation: split into sentences, tokenize, search, join with the input's own spacing.
class TranslatePipeline final : public Pipeline {
 public:
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
  const Tokenizer& tokenizer() const override { return target_tokenizer(); }
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
                       const TranslateOptions& options = {}, ResultForm form = ResultForm::json);
  std::unique_ptr<Job> begin(std::span<const TextInput> texts, const TaskOptions& options,
                             ResultForm form) override;

  /// All at once. Throws a text's own error.
  Translation translate(std::string_view text, const TranslateOptions& options = {});
  std::vector<std::variant<Translation, Error>> translate_batch(
      std::span<const std::string_view> texts, const TranslateOptions& options = {});

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
  SpecialTokens library_special_;              // of a search as the library transformers does it
  std::optional<TokenChoice> library_choice_;  // of the same, where the folder changes scores
  std::optional<Shortlist> shortlist_;
  Seq2Seq model_;
  Session session_;
};

/// Translations under way.
class TranslationJob final : public Job {
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
  /// streamed() as {token, text, before?, sentence?: {index, start, end, targetStart,
  /// sourceTokens}, attention?: {encoder?, decoder, cross}}. `text` is the sentence's output so
  /// far, with what follows the last one; `before` goes between what the step before showed and
  /// that. `before`, `sentence` and `encoder` come with a sentence's first token.
  std::optional<Result> progress() override;

  /// One a text, in their order, once done; they are moved out.
  std::vector<std::variant<Translation, Error>> take_results();
  std::vector<Outcome> end() override;

 private:
  friend class TranslatePipeline;
  struct State;
  explicit TranslationJob(std::unique_ptr<State> state);
  ResultForm form() const;

  std::unique_ptr<State> state_;
};

/// As text: the translation; or {text, score, sentences: [{text, score, tokens: [{id, text, start,
/// end, logprob}], start, end, targetStart, targetEnd, clipped, sourceTokens: [{id, text, start,
/// end}], attention?: {encoder, decoder, cross}, trace?: {NAME: {shape, data}}, alignment?:
/// [{target: {start, end}, source: {start, end}, weight}], hypotheses?: [{text, score, tokens}],
/// tree?: [{parent, id, text, logprob, total, kept}]}]}.
Result to_result(Translation translation, ResultForm form);

}  // namespace glassformer
