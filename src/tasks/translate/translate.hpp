#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/tasks/translate.hpp"
#include "base/error.hpp"
#include "families/config/model_config.hpp"
#include "models/runner.hpp"
#include "search/constraints.hpp"
#include "search/search.hpp"
#include "search/shortlist.hpp"
#include "tasks/pipeline.hpp"
#include "tasks/translate/alignment.hpp"
#include "tasks/translate/languages.hpp"
#include "tasks/translate/source_reader.hpp"
#include "text/tokenizer.hpp"

namespace glassformer {

/// A token, as the decoder writes it. End tokens are not reported, as they add nothing to the text.
struct StreamedToken {
  std::size_t text, sentence;  ///< index of the text, and of the sentence in it
  OutputToken token;
  /// With attention: the weights of this step, [L, H, 1, T] and [L, H, 1, S].
  std::optional<AttentionMap> decoder, cross;
  /// With the first token of a sentence: the text between the output of the last step and the
  /// output of this sentence.
  std::string before = {};
};

/// Translates texts, step by step. A step reads some texts, encodes the next sentences, writes one
/// token of each sentence of the batch, or reads a finished translation again for its attention.
class TranslationJob : public TypedJob<Translation> {
 public:
  virtual bool done() const = 0;
  /// With options.stream: the token that the last step wrote, if it was a decoding step. With
  /// several beams, it is the last token of the leading hypothesis and may be replaced later.
  ///
  /// `show` writes it as {token, text, before?, sentence?: {index, start, end, targetStart,
  /// sourceTokens}, attention?: {encoder?, decoder, cross}}. `text` is the output of the sentence
  /// so far; `before` goes between the text of the step before and `text`. `before`, `sentence` and
  /// `encoder` come with the first token of a sentence.
  virtual const std::optional<StreamedToken>& streamed() const = 0;
  /// With options.stream: the output of text `i` so far, in whole characters. With one beam, every
  /// output begins with the one before.
  virtual std::string text(std::size_t i) const = 0;
  /// The sentence of streamed() so far: its range and source tokens, its output (with offsets in
  /// its own text) and, with attention, that of the encoder.
  virtual const SentenceTranslation& sentence() const = 0;
};

/// Translates texts: splits them into sentences, tokenizes, searches, and joins the translations
/// with the spacing of the input.
class TranslatePipeline final : public Pipeline {
 public:
  using Options = TranslateOptions;
  static constexpr std::array tasks = {Task::translation};
  /// The longest text, in bytes.
  static constexpr std::size_t max_text_bytes = 1 << 20;

  /// Without a target tokenizer, the source tokenizer is used for both sides. With a shortlist.bin,
  /// a translation may only use the tokens that it lists for the source, and log-probabilities are
  /// computed over these. Throws `wrong_task` unless the configuration describes a translation
  /// model, `invalid_config` if a special token is not a piece, `invalid_tokenizer` if a vocabulary
  /// is too large, and `invalid_shortlist`.
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
  /// Empty for a model of one pair of languages.
  std::span<const Language> languages() const { return source_tokenizer().languages(); }
  const Seq2Seq& model() const { return model_; }
  WriterRunner runner() { return {model_, session()}; }
  const SpecialTokens& specials() const { return special_; }
  /// Returns the token that the decoder reads first: that of the language to write, in models
  /// whose start token is a language; otherwise always the same.
  std::int32_t start_for(const TranslateOptions& options) const;

  /// Starts translating several texts. Throws `invalid_option` for languages, beams, heads, layers
  /// or names that do not exist. An error in one text does not affect the others: `empty_input` for
  /// a text without tokens; `too_large` for a text over max_text_bytes, if its trace may take more
  /// than max_trace_bytes, or if a search for one of its sentences may take more than
  /// max_search_bytes; `non_finite` if a probability is not finite. A sentence over the model's
  /// limit is split at clauses or words, otherwise clipped. Any number of jobs may run at a time;
  /// the pipeline must outlive them.
  std::unique_ptr<TranslationJob> begin(std::span<const std::string_view> texts,
                                        const TranslateOptions& options = {});
  std::unique_ptr<Job> begin(const TaskInputs& inputs, const TaskOptions& options) override;

  /// Translates one text. Throws its error.
  Translation translate(std::string_view text, const TranslateOptions& options = {});
  Results<Translation> translate_batch(std::span<const std::string_view> texts,
                                       const TranslateOptions& options = {});

 private:
  friend class TranslatingJob;
  void check(const TranslateOptions& options) const;
  TranslationLanguages chosen_languages() const;
  SourceReader reader_for(const TranslateOptions& options) const;
  // Returns the constraints of the search, with the language of the translation.
  Constraints constraints_for(const TranslateOptions& options) const;
  SearchOptions search_of(const TranslateOptions& options) const;
  // Whether to search as the transformers library does, instead of in our own way.
  bool as_library(const TranslateOptions& options) const {
    return options.early_stopping || config_.generation.early_stopping;
  }
  // Returns the tokens that a translation may use: those that the shortlist lists for its source,
  // and those that are always allowed.
  std::vector<std::int32_t> choices(std::span<const std::int32_t> source,
                                    std::span<const std::int32_t> prefix) const;

  ModelConfig config_;
  std::unique_ptr<const Tokenizer> source_tokenizer_;
  std::unique_ptr<const Tokenizer> target_tokenizer_;  // null: the source's is used
  SourceReader reader_;
  SpecialTokens special_;
  SpecialTokens library_special_;    // for a search as in the transformers library
  Constraints library_constraints_;  // for the same
  std::optional<Shortlist> shortlist_;
  Seq2Seq model_;
};

}  // namespace glassformer
