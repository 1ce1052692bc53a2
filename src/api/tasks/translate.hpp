#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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
  /// The maximum number of tokens per sentence. 0: as the folder says, or three times the source's
  /// plus 16.
  std::size_t max_length = 0;
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

/// A range of a text, in UTF-16 code units.
struct TextRange {
  std::uint32_t start, end;

  bool operator==(const TextRange&) const = default;
};

/// A word of the output, and the word of the input from which it was translated.
struct AlignmentLink {
  TextRange target, source;
  float weight;  ///< share of the target word's attention that is on the source word
};

/// A token that the search considered: a node of the search tree. The root, node 0, is the start
/// token and its own parent.
struct SearchNode {
  std::uint32_t parent;
  std::int32_t id;
  std::string text;  ///< as in InputToken
  float logprob;     ///< of this token after its parent
  float total;       ///< of all tokens up to this one
  bool kept;         ///< stayed in the beam or completed a hypothesis; otherwise dropped
};

/// The translation of one sentence: S tokens in, T tokens out.
struct SentenceTranslation {
  std::uint32_t start, end;  ///< position of the sentence in the input, in UTF-16 code units
  std::uint32_t target_start, target_end;  ///< position of its translation in the whole output
  bool clipped;                            ///< whether it was cut at the model's limit
  std::vector<InputToken> source_tokens;   ///< [S] read by the encoder; offsets in the input
  /// The best translation. The offsets of its tokens are in the whole translation.
  OutputText output;
  std::optional<AttentionMap> encoder;  ///< [layers, heads, S, S], if requested
  /// [layers, heads, T, T] and [layers, heads, T, S]. Row i is the step that wrote output token i.
  /// Column j of `decoder` is output token j - 1, and column 0 the start token. Tokens that a step
  /// had not seen have weight 0.
  std::optional<AttentionMap> decoder, cross;
  /// Target offsets are in the whole translation, source offsets in the input.
  std::optional<std::vector<AlignmentLink>> alignment;
  /// The requested tensors. Those of the decoder have one row per output token, like `decoder`.
  std::vector<TracedTensor> trace;
  std::vector<OutputText> hypotheses;  ///< best first, if requested
  std::vector<SearchNode> tree;        ///< all that the search considered, parents before children
};

/// A translated text.
struct Translation {
  std::string text;
  float score;  ///< mean of the sentences' scores, weighted by their tokens
  std::vector<SentenceTranslation> sentences;
};

/// A token of a translation that is being written, as it leaves the decoder.
struct TranslationStep {
  OutputToken token;
  std::string text;  ///< the whole translation so far, of whole characters
  /// With attention: that of this step over the tokens before it, [layers, heads, 1, T], and over
  /// the source, [layers, heads, 1, S].
  std::optional<AttentionMap> decoder, cross;
};

}  // namespace glassformer
