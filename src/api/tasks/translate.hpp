#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/encoder_options.hpp"
#include "api/output.hpp"
#include "api/tokens.hpp"
#include "families/config/early_stopping.hpp"
#include "run/attention_map.hpp"
#include "run/trace/patch.hpp"
#include "run/trace/traced_tensor.hpp"

namespace glassformer {

/// The cross-attention that is read as an alignment.
struct AlignmentOptions {
  std::optional<std::size_t> layer = {};  ///< of the decoder; default: the last
  std::vector<std::size_t> heads = {};    ///< averaged; default: all
};

template <class Visit>
void fields(Visit& visit, AlignmentOptions& options) {
  visit("layer", options.layer, {.help = "The decoder's layer.", .absent = "the last"});
  visit("heads", options.heads,
        {.help = "The heads to average.", .absent = "all", .items = "numbers of heads"});
}

/// Options of a Translator's calls.
struct TranslateOptions {
  /// The languages of the text and of the translation: two of Translator::languages. Default: as
  /// the folder says. A model of one pair of languages only accepts its own.
  std::optional<std::string> from = {}, to = {};
  /// 1 to max_beams; 1: greedy. Default: as the folder says, or 4.
  std::optional<std::size_t> beams = {};
  /// score = log-probability / tokens ^ length_penalty. Default: as the folder says, or 1.
  std::optional<float> length_penalty = {};
  /// Searches and stops as the transformers library does. Default: as the folder says. If the
  /// folder says nothing, a search ends when the best hypothesis is ahead of all growing ones, and
  /// skips endless repetitions and tokens that are not text.
  std::optional<EarlyStopping> early_stopping = {};
  /// Per sentence, in order: the ids with which its translation begins or, if the end token is
  /// last, of which it consists. Their log-probabilities are the model's own.
  std::vector<std::vector<std::int32_t>> prefixes = {};
  /// Per sentence, in order: the positions of source tokens to treat as padding.
  std::vector<std::vector<std::size_t>> mask_tokens = {};
  /// The maximum number of tokens per sentence. Default: as the folder says, or three times the
  /// source's plus 16.
  std::optional<std::size_t> max_length = {};
  bool attention = false;  ///< return all attention weights, and the alignment
  std::optional<AlignmentOptions> alignment = {};  ///< return the alignment, read this way
  bool hypotheses = false;                         ///< return the n-best list and the search tree
  std::vector<std::string> trace = {};  ///< return the tensors with these names; see EncoderOptions
  /// Numbers to replace, applied in order; those of the decoder in every hypothesis.
  std::vector<Patch> patch = {};
  std::vector<HeadIndex> ablate = {};  ///< heads whose output becomes zero
  /// Translate sentence after sentence, so that the text grows at its end, as in
  /// Translator::stream.
  bool stream = false;
};

// The options of everything that translates: `from` and `to`.
template <class Visit, class Options>
void language_fields(Visit& visit, Options& options) {
  visit("from", options.from,
        {.help = "The language of the text, such as en or eng_Latn, for a model of many languages.",
         .absent = "as the model's files say"});
  visit("to", options.to,
        {.help = "The language of the translation.", .absent = "as the model's files say"});
}

template <class Visit>
void fields(Visit& visit, TranslateOptions& options) {
  language_fields(visit, options);
  visit("beams", options.beams,
        {.help = "The number of hypotheses of the beam search. 1: greedy.",
         .absent = "as the model's files say, or 4",
         .least = 1,
         .most = max_beams});
  visit("length_penalty", options.length_penalty,
        {.help = "A hypothesis' score is its log-probability / tokens ^ this.",
         .absent = "as the model's files say, or 1",
         .least = -max_length_penalty,
         .most = max_length_penalty});
  visit("early_stopping", options.early_stopping, about_early_stopping);
  visit("max_length", options.max_length,
        {.help = "The maximum number of tokens of a sentence's translation.",
         .absent = "as the model's files say, or 3 times the sentence's + 16",
         .least = 1});
  visit("prefixes", options.prefixes,
        {.help = "For each sentence, in order, the ids of the tokens with which its translation "
                 "begins. With the end token as the last one, they are the whole translation. "
                 "Their log-probabilities are the model's own.",
         .items = "ids"});
  visit("mask_tokens", options.mask_tokens,
        {.help = "For each sentence, in order, the positions of source tokens to treat as padding: "
                 "no other token sees them.",
         .items = "positions of tokens"});
  visit("attention", options.attention,
        {.help = "Return the attention weights of all heads, and the alignment.", .adds = true});
  visit("hypotheses", options.hypotheses,
        {.help = "Return the other finished translations, and the tree of all hypotheses.",
         .adds = true});
  visit("stream", options.stream,
        {.help = "Translate sentence after sentence, so that the text grows at its end.",
         .apart = true});
  visit("trace", options.trace, about_trace);
  visit("patch", options.patch, about_patch);
  visit("ablate", options.ablate, about_ablate);
  visit("alignment", options.alignment,
        {.help = "Return which words were translated from which, even without the attention.",
         .adds = true});
}

/// A range of a text, in UTF-16 code units.
struct TextRange {
  std::uint32_t start, end;

  bool operator==(const TextRange&) const = default;
};

template <class Visit>
void fields(Visit& visit, const TextRange& range) {
  visit("start", range.start,
        {.help = "Where it begins, in UTF-16 code units; in Python, in characters."});
  visit("end", range.end, {.help = "Where it ends."});
}

/// A word of the translation, and the word of the text from which it was translated.
struct AlignmentLink {
  TextRange target, source;
  float weight;
};

template <class Visit>
void fields(Visit& visit, const AlignmentLink& link) {
  visit("target", link.target, {.help = "In the whole translation."});
  visit("source", link.source, {.help = "In the text."});
  visit("weight", link.weight,
        {.help = "The share of the target word's attention that is on the source word."});
}

/// A token that the search considered: a node of the search tree. The root, node 0, is the start
/// token and its own parent.
struct SearchNode {
  std::uint32_t parent;
  std::int32_t id;
  std::string text;
  float logprob, total;
  bool kept;
};

template <class Visit>
void fields(Visit& visit, const SearchNode& node) {
  visit("parent", node.parent, {.help = "The index of the token before it in the tree."});
  visit("id", node.id, {.help = "Its number in the vocabulary."});
  visit("text", node.text, about_token_text);
  visit("logprob", node.logprob, about_logprob);
  visit("total", node.total, {.help = "The sum of the log-probabilities from the start."});
  visit("kept", node.kept,
        {.help = "Whether the search continued from it, or it finished a hypothesis."});
}

/// The translation of one sentence: S tokens in, T tokens out.
struct SentenceTranslation {
  std::uint32_t start, end;
  std::uint32_t target_start, target_end;
  bool clipped;
  std::vector<InputToken> source_tokens;  ///< [S]
  OutputText output;                      ///< the best translation
  std::optional<AttentionMap> encoder;    ///< [layers, heads, S, S], if requested
  /// [layers, heads, T, T] and [layers, heads, T, S]. Row i is the step that wrote output token i.
  /// Column j of `decoder` is output token j - 1, and column 0 the start token. Tokens that a step
  /// had not seen have weight 0.
  std::optional<AttentionMap> decoder, cross;
  std::optional<std::vector<AlignmentLink>> alignment;
  /// The requested tensors. Those of the decoder have one row per output token, like `decoder`.
  std::vector<TracedTensor> trace;
  std::vector<OutputText> hypotheses;
  std::vector<SearchNode> tree;
};

template <class Visit>
void fields(Visit& visit, SentenceTranslation& sentence) {
  fields(visit, sentence.output);
  visit("start", sentence.start,
        {.help = "Where the sentence begins in the text, in UTF-16 code units; in Python, in "
                 "characters."});
  visit("end", sentence.end, {.help = "Where it ends."});
  visit("targetStart", sentence.target_start,
        {.help = "Where its translation begins in the whole translation."});
  visit("targetEnd", sentence.target_end, {.help = "Where its translation ends."});
  visit("clipped", sentence.clipped,
        {.help = "Whether the end of the sentence was left out because of the model's limit."});
  visit("sourceTokens", sentence.source_tokens,
        {.help = "The tokens that the encoder read, with their places in the text."});
  if (sentence.cross) {
    visit.attention({&sentence.encoder, &sentence.decoder, &sentence.cross});
  }
  visit.trace(std::move(sentence.trace));
  visit("alignment", sentence.alignment,
        {.help = "Which words were translated from which.", .with = "alignment or attention"});
  using Hypotheses = std::optional<std::span<const OutputText>>;
  const bool searched = !sentence.tree.empty();
  visit("hypotheses", searched ? Hypotheses(sentence.hypotheses) : std::nullopt,
        {.help = "The other finished translations, the best first.", .with = "hypotheses"});
  visit("tree", sentence.tree,
        {.help = "All tokens that the search considered, parents before children.",
         .with = "hypotheses",
         .omitted = true});
}

/// A translated text.
struct Translation {
  std::string text;
  float score;
  std::vector<SentenceTranslation> sentences;
};

template <class Visit>
void fields(Visit& visit, Translation& result) {
  visit("text", result.text, {.help = "The translation."});
  visit("score", result.score,
        {.help = "The mean of the sentences' scores, weighted by their tokens."});
  visit.each("sentences", result.sentences,
             [&](SentenceTranslation& sentence) { fields(visit, sentence); },
             {.help = "The sentences of the text, in order."});
}

/// A token of a translation that is being written, as it leaves the decoder.
struct TranslationStep {
  OutputToken token;
  std::string text;  ///< the whole translation so far, of whole characters
  /// With attention: that of this step over the tokens before it, [layers, heads, 1, T], and over
  /// the source, [layers, heads, 1, S].
  std::optional<AttentionMap> decoder, cross;
};

}  // namespace glassformer
