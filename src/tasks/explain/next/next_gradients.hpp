#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "explain/dictionaries/attribution_graph.hpp"
#include "explain/interventions/faithfulness.hpp"
#include "explain/interventions/integrated_gradients.hpp"
#include "explain/interventions/value_zeroing.hpp"
#include "tasks/explain/explanation.hpp"
#include "tasks/explain/next/next_attribution.hpp"
#include "tasks/explain/requests/request.hpp"
#include "tasks/pipeline.hpp"

// Explains a next token by gradients. It has results of its own, so that programs without gradients
// lack all of it.

namespace glassformer {

/// The tokens before the explained one.
struct ReadBefore {
  std::vector<InputToken> tokens = {};  ///< of a text that is continued or answered
  bool clipped = false;
  std::optional<ExplainedSentence> sentence = {};        ///< of a translation
  std::optional<std::vector<std::int32_t>> answer = {};  ///< of a model that answers texts
};

/// A text up to a next token, as a model reads it. The pipeline must outlive this.
struct NextSubject {
  WriterRunner model;
  NextTokenAttribution attributions;
  const Tokenizer& source_tokenizer;
  std::vector<std::int32_t> decoded = {};  ///< the tokens that the decoder reads
  std::optional<Seq2Seq::Encoded> encoded = {};
  std::optional<std::int32_t> own = {};  ///< the token that the answer has; unset: the likeliest
  ReadBefore before = {};

  DecodedText text() const { return {decoded, encoded ? &*encoded : nullptr}; }
  /// The texts of the tokens that the decoder reads, and of those that the encoder reads.
  std::vector<std::string> decoded_texts() const;
  std::vector<std::string> encoded_texts() const;
};

/// Returns the place that options name; by default, what follows the prefix. Throws
/// `invalid_option` for a place in the answer of a model without an encoder.
TranslatedPlace asked_place(const Pipeline& pipeline, const ExplainOptions& options);
/// Reads a text up to a token of its translation, of its answer, or after its end. Throws
/// `invalid_option` for a place that does not exist, and the errors of the pipeline.
NextSubject read_to_next(Pipeline& pipeline, std::string_view text, const TranslatedPlace& place);

/// The lead of one next token over another, explained by gradients. The methods throw `unsupported`
/// if this program or the model's arithmetic has no gradients.
class NextLead {
 public:
  /// Chooses the tokens. Throws `invalid_option` for tokens that do not exist. The subject must
  /// outlive this.
  NextLead(const NextSubject& subject, NextAttributionOptions options);

  const Guess& token() const { return chosen_.token; }
  const Guess& against() const { return chosen_.against; }
  const Contrast& contrast() const { return contrast_; }

  /// Throws `invalid_option` for names and patches of tensors that the model does not have, and
  /// `unsupported` for patches of scores or weights. The lead is that of the patched run, but the
  /// tokens are those of the plain one.
  Gradients gradients(const std::vector<std::string>& names,
                      const std::vector<Patch>& patches = {}) const;
  GradientScores gradient_times_input() const;
  PropagatedRelevance propagated(BackwardRules rules) const;
  /// Returns the tokens that faithfulness leaves out, each a part of its own.
  std::vector<std::vector<std::size_t>> parts() const;
  /// Returns the score of each token by a method that has one per token. Throws `invalid_option`
  /// for other methods.
  std::vector<float> token_scores(const std::string& method) const;
  /// Tests scores against the model: each token with a text is a part, but for the last that the
  /// decoder reads, whose row predicts. Throws `unsupported` for a decoder with recurrent units.
  FaithfulnessTest faithfulness(const TestedScores& test, std::uint32_t seed) const;
  Relevance relevance() const;
  /// The caller runs the steps. Throws `too_large`.
  NextValueZeroing value_zeroing() const;
  /// The caller runs the steps. Throws `too_large`.
  std::unique_ptr<AttributionGraphSearch> attribution_graph(const DictionarySet& dictionaries,
                                                            const ChosenGraph& options) const;
  /// The embeddings of all tokens that have a text begin with that of `baseline`, or at zero. The
  /// caller runs the steps. Throws `invalid_option` for a token that does not exist.
  IntegratedGradientsSum integrated_gradients(std::optional<std::size_t> baseline = {}) const;

 private:
  const NextSubject& subject_;
  NextLogitAttribution chosen_;  // only the two tokens
  Contrast contrast_;
};

/// The result of an explanation. The method determines the type of `part`.
struct NextGradients {
  ReadBefore before = {};
  std::vector<std::string> rows = {};  ///< the text of each token that has a score, [T + S]
  std::size_t position = 0;            ///< of the token in a translation or an answer
  Guess token, against;
  std::variant<Gradients, GradientScores, IntegratedGradients, Relevance, PropagatedRelevance,
               WordFaithfulness, PairCircuit, AttributionGraph, ZeroedValues>
      part = {};
};

/// A request, with the place and the tokens that it names.
struct AskedNext {
  ExplainRequest request;
  TranslatedPlace place = {};
  NextAttributionOptions tokens = {};
};

/// The explanation of one text, or of texts together, step by step.
class NextSteps {
 public:
  virtual ~NextSteps() = default;

  /// Does the next piece of work. Returns whether any is left.
  virtual bool step() = 0;
  /// Returns the result after the last step.
  virtual NextGradients take() = 0;
};

/// Whether a request is for begin_next_gradients.
bool asks_for_next_gradients(const Pipeline& pipeline, const ExplainRequest& request);

/// Starts explanations of a next token by gradients: of a decoder that continues texts, of a model
/// that answers them, or of a translator; see methods.hpp.
///
/// Throws `invalid_option`, naming the option, and `unsupported` if this program or the model's
/// arithmetic has no gradients.
std::unique_ptr<TypedJob<NextGradients>> begin_next_gradients(Pipeline& pipeline,
                                                              std::span<const TextInput> texts,
                                                              const ExplainRequest& request);

}  // namespace glassformer
