#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "glassformer/attention.hpp"
#include "glassformer/compute.hpp"
#include "glassformer/error.hpp"
#include "glassformer/output.hpp"
#include "glassformer/patch.hpp"
#include "glassformer/text_input.hpp"
#include "glassformer/tokens.hpp"

namespace glassformer {

class TranslatePipeline;

/// Which cross-attention is read as an alignment.
struct AlignmentOptions {
  std::optional<std::size_t> layer = {};  ///< of the decoder; by default the last
  std::vector<std::size_t> heads = {};    ///< averaged; by default all
};

/// What may be asked of a Translator.
struct TranslateOptions {
  /// 1 to max_beams; 1: greedy. By default as the folder says, or 4.
  std::optional<std::size_t> beams = {};
  /// score = log-probability / tokens ^ length_penalty. By default as the folder says, or 1.
  std::optional<float> length_penalty = {};
  /// Searches as the library transformers does, and ends as it does. By default as the folder says;
  /// where it says nothing, a search ends when the best hypothesis is ahead of all that still grow,
  /// and passes over endless repeats and tokens that are no text.
  std::optional<EarlyStopping> early_stopping = {};
  /// Of each sentence, in their order, the ids that its translation begins with; with the end token
  /// last, that it consists of. Their log-probabilities are the model's own.
  std::vector<std::vector<std::int32_t>> prefixes = {};
  /// Of each sentence, in their order, the positions of source tokens to treat as padding.
  std::vector<std::vector<std::size_t>> mask_tokens = {};
  /// Most tokens a sentence; 0: as the folder says, or three times the source's and 16.
  std::size_t max_length = 0;
  bool attention = false;  ///< return every attention weight, and the alignment
  std::optional<AlignmentOptions> alignment = {};  ///< return the alignment, read this way
  bool hypotheses = false;                         ///< return the n-best list and the search tree
  std::vector<std::string> trace = {};  ///< return the tensors of these names; see EncoderOptions
  /// Numbers to replace, one after the other; the decoder's in every hypothesis.
  std::vector<Patch> patch = {};
  std::vector<HeadIndex> ablate = {};  ///< heads whose output becomes zero
  /// One sentence after the other, so that the text grows at its end, as Translator::stream has it.
  bool stream = false;
};

/// A stretch of a text, in UTF-16 code units.
struct TextRange {
  std::uint32_t start, end;

  bool operator==(const TextRange&) const = default;
};

/// A word of the output and a word of the input that it was made from.
struct AlignmentLink {
  TextRange target, source;
  float weight;  ///< the share of the target word's attention that the source word has
};

/// One token that the search considered: a node of its tree. The tree's root, node 0, is the start
/// token, and its own parent.
struct SearchNode {
  std::uint32_t parent;
  std::int32_t id;
  std::string text;  ///< as InputToken::text
  float logprob;     ///< of this token after its parent
  float total;       ///< of all tokens up to this one
  bool kept;         ///< went on in the beam or completed a hypothesis; else it was dropped
};

/// One sentence's way through the model: S tokens in, T tokens out.
struct SentenceTranslation {
  std::uint32_t start, end;                ///< of the sentence in the input, in UTF-16 code units
  std::uint32_t target_start, target_end;  ///< of its translation in the whole output
  bool clipped;                            ///< it was cut at the model's limit
  std::vector<InputToken> source_tokens;   ///< [S] what the encoder read; offsets in the input
  /// The best one. Its tokens' offsets are in the whole translation.
  OutputText output;
  std::optional<AttentionMap> encoder;  ///< [layers, heads, S, S], if asked for
  /// [layers, heads, T, T] and [layers, heads, T, S]: row i is the step that emitted output token
  /// i. The decoder's column j is output token j - 1, column 0 the start token; what a step had not
  /// seen is 0.
  std::optional<AttentionMap> decoder, cross;
  /// Target offsets in the whole translation, source offsets in the input.
  std::optional<std::vector<AlignmentLink>> alignment;
  /// Those that were asked for. A decoder's have a row for each token of the output, as `decoder`
  /// has.
  std::vector<TracedTensor> trace;
  std::vector<OutputText> hypotheses;  ///< best first, if asked for
  std::vector<SearchNode> tree;  ///< everything the search considered, parents before children
};

/// A text in the other language.
struct Translation {
  std::string text;
  float score;  ///< the mean of the sentences' scores, weighted by their tokens
  std::vector<SentenceTranslation> sentences;
};

/// A token of a translation under way, as it leaves the decoder.
struct TranslationStep {
  OutputToken token;
  std::string text;  ///< the whole translation so far, of whole characters
  /// With attention, how this step spread it over the tokens before it and over the source:
  /// [layers, heads, 1, T] and [layers, heads, 1, S].
  std::optional<AttentionMap> decoder, cross;
};

/// Text to translation, sentence by sentence. It answers one call at a time; use one per thread.
class Translator {
 public:
  /// Opens a model folder. Throws what Classifier::load does, and `invalid_shortlist`.
  static Translator load(const std::filesystem::path& folder, const LoadOptions& options = {});
  explicit Translator(std::unique_ptr<TranslatePipeline> pipeline);
  Translator(Translator&&) noexcept;
  Translator& operator=(Translator&&) noexcept;
  ~Translator();

  /// Such as "en".
  const std::string& source_language() const;
  const std::string& target_language() const;
  Compute compute() const;

  /// Throws `empty_input` for a text without tokens, `too_large`, `invalid_option` for beams, heads
  /// or layers that do not exist, and `non_finite` where a probability is not a finite number. A
  /// sentence over the model's limit is cut at clauses or words; what has none is clipped.
  Translation translate(std::string_view text, const TranslateOptions& options = {});

  /// The same for several texts. One text's error leaves the others' results alone.
  std::vector<std::variant<Translation, Error>> translate_batch(
      const Texts& texts, const TranslateOptions& options = {});

  /// Translates with a call of `on_step` for each token that adds to the text; greedily unless
  /// `options` says otherwise. With more than one beam, a step shows the hypothesis in the lead,
  /// and a later one may take words back. What `on_step` throws ends the translation.
  Translation stream(std::string_view text, const std::function<void(TranslationStep)>& on_step,
                     const TranslateOptions& options = {.beams = 1});

 private:
  std::unique_ptr<TranslatePipeline> pipeline_;
};

}  // namespace glassformer
