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

#include "explain/interventions/integrated_gradients.hpp"
#include "tasks/explain/explain_next.hpp"
#include "tasks/explain/explanation.hpp"
#include "tasks/explain/request.hpp"
#include "tasks/pipeline.hpp"

// Explains a next token by gradients. It has options and results of its own, so that programs
// without gradients lack all of it.

namespace glassformer {

/// Whether the method uses gradients.
bool explains_by_gradients(std::string_view method);

/// The options of an explanation of a next token by gradients.
struct NextGradientsRequest {
  std::string method = {};
  std::vector<std::string> names = {};  // of gradients
  std::vector<Patch> patches = {};      // of gradients
  std::optional<std::size_t> token = {}, against = {};
  std::optional<std::size_t> baseline_token = {};  // of integrated_gradients
  std::optional<std::string> from = {}, to = {};   // for translators
  // For models with an encoder; `sentence` for translators only.
  std::optional<std::size_t> beams = {}, sentence = {}, position = {};
  std::optional<std::vector<std::int32_t>> prefix = {};
};

template <class Visit>
void fields(Visit& visit, NextGradientsRequest& request) {
  visit("method", request.method, {.help = "How to explain the answer: see below.", .apart = true});
  visit("names", request.names,
        {.help = "Names of tensors; \"*\" stands for any characters except dots."});
  visit("patch", request.patches,
        {.help = "As in other calls, but not of scores and weights. The gradients are those of the "
                 "patched run."});
  visit(
      "baseline_token", request.baseline_token,
      {.help = "The id of the token whose embedding all others begin with. A model with RMS norms "
               "needs it: they remove the length of an embedding, so on the way from zeros almost "
               "all changes near zero, and the gap is large.",
       .absent = "zeros"});
  next_token_fields(visit, request);
}

/// Returns the options that these methods have in common with others. Throws `invalid_option` if
/// the request has more.
NextGradientsRequest next_gradients_request(const ExplainRequest& request);

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
};

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

  /// Throws `invalid_option` for names and patches of tensors that the model does not have, and
  /// `unsupported` for patches of scores or weights. The lead is that of the patched run, but the
  /// tokens are those of the plain one.
  Gradients gradients(const std::vector<std::string>& names,
                      const std::vector<Patch>& patches = {}) const;
  GradientScores gradient_times_input() const;
  Relevance relevance() const;
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
  Guess token, against;
  std::variant<Gradients, GradientScores, IntegratedGradients, Relevance> part = {};
};

/// Starts explanations of a next token by gradients: of a decoder that continues texts, of a model
/// that answers them, or of a translator; see methods.hpp.
///
/// Throws `invalid_option`, naming the option, and `unsupported` for other tasks, or if this
/// program or the model's arithmetic has no gradients.
std::unique_ptr<TypedJob<NextGradients>> begin_next_gradients(Pipeline& pipeline,
                                                              std::span<const TextInput> texts,
                                                              const NextGradientsRequest& request);

/// Does the same with options in JSON. Returns null for other methods, and for other tasks except
/// with the method "gradients", which throws `unsupported`.
std::unique_ptr<Job> begin_next_gradients(Pipeline& pipeline, std::span<const TextInput> texts,
                                          const TaskOptions& options);

}  // namespace glassformer
