#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/tasks/explain.hpp"
#include "explain/circuits/edge_circuit.hpp"
#include "explain/interventions/circuit.hpp"
#include "explain/interventions/faithfulness.hpp"
#include "explain/interventions/integrated_gradients.hpp"
#include "explain/interventions/value_zeroing.hpp"
#include "explain/patching/activation_patching.hpp"
#include "tasks/classify/classify.hpp"
#include "tasks/explain/explanation.hpp"
#include "tasks/explain/next/next_attribution.hpp"
#include "tasks/explain/requests/request.hpp"
#include "tasks/generate/generate.hpp"
#include "tasks/image/image.hpp"
#include "tasks/match/match.hpp"

namespace glassformer {

class TranslatePipeline;
struct PatchedPair;

/// A text or a picture as a classifier reads it. A picture's words are its patches.
struct ExplainInput {
  EncoderInput input;
  ExplainedText text;
  std::optional<PatchGrid> grid = {};           ///< of a picture
  PictureRegion region = {};                    ///< of a picture: see ImageClassification
  std::vector<std::vector<std::size_t>> words;  ///< the tokens of each word, without special ones
  std::vector<std::size_t> sentence_starts;     ///< the first token of each sentence, ascending
};

/// Throws `invalid_option` unless there is one finite score per token.
void expect_scores(std::span<const float> scores, std::size_t tokens);
/// Throws `invalid_option` for a method that does not score tokens.
void expect_tested(const TestedScores& test);
/// Returns each token's part of an attribution by the tokens that are read, without biases.
std::vector<float> read_scores(const LogitAttribution& parts);

/// Explains the answers of a classifier. The methods are described at Explainer. For those that
/// take long, the caller runs the steps.
class ClassifierExplainer {
 public:
  /// The pipeline must be a ClassifyPipeline or an ImagePipeline, and outlive this.
  explicit ClassifierExplainer(EncoderPipeline& pipeline);
  /// Explains which of these labels a picture matches best. The pipeline must outlive this.
  ClassifierExplainer(MatchPipeline& pipeline, std::vector<std::string> labels);
  /// Sets the vectors of the labels' texts: see DualEncoder::classifier. Call it before the
  /// methods.
  void set_labels(const DualEncoder& dual, std::span<const std::vector<float>> vectors) {
    classifier_ = dual.classifier(vectors);
  }

  /// Reads a text, for a ClassifyPipeline. Throws the errors of ClassifyPipeline::read.
  ExplainInput read(const TextInput& text) const;
  /// Reads a picture. Throws the errors of read_picture.
  ExplainInput read(const Picture& picture, const ImageOptions& options = {}) const;
  /// Finds a label by its name, or by its number. Throws `invalid_option` for a label that the
  /// model does not have, and for the name of two.
  std::size_t find_label(const std::string& label) const;

  Rollout rollout(const ExplainInput& input) const;
  ValueNorms value_norms(const ExplainInput& input) const;
  Lens lens(const ExplainInput& input) const;
  LogitAttribution direct_logit_attribution(const ExplainInput& input,
                                            const LogitAttributionOptions& options) const;
  GradientScores gradient_times_input(const ExplainInput& input, std::size_t label) const;
  PropagatedRelevance propagated(const ExplainInput& input, std::size_t label,
                                 BackwardRules rules) const;
  Relevance relevance(const ExplainInput& input, std::size_t label) const;
  /// The caller runs the steps of this and of integrated_gradients.
  ValueZeroing value_zeroing(const ExplainInput& input) const;
  /// Adds the scores.
  ZeroedValues scored(ZeroedValues values, const ExplainInput& input) const;
  IntegratedGradientsSum integrated_gradients(const ExplainInput& input, std::size_t label) const;
  /// Returns the score of each token by a method that has one score per token. Throws
  /// `invalid_option` for other methods.
  std::vector<float> token_scores(const ExplainInput& input, const std::string& method,
                                  const std::optional<std::string>& label = std::nullopt) const;

  /// The cells are tokens; if the base has more than 64 tokens, words; if it has more than 64
  /// words, sentences.
  ActivationPatching activation_patching(const ExplainInput& base, const ExplainInput& donor,
                                         const ActivationPatchingOptions& options) const;
  PatchingResult describe(const PatchingTable& table, const ExplainInput& base,
                          const ExplainInput& donor) const;
  FaithfulnessTest faithfulness(const ExplainInput& input,
                                const FaithfulnessOptions& options) const;
  CutEffects cut(const ExplainInput& input, std::span<const AttentionEdge> edges, Cut cut,
                 std::size_t label) const;
  CircuitSearch circuit(const ExplainInput& input, float least) const;
  /// Returns two texts of equally many tokens whose answers an EdgeCircuitSearch compares, one of
  /// `pairs`. Throws `invalid_option` for other texts, `unsupported` for a model with a decoder,
  /// and `too_large`.
  CircuitSubject circuit_subject(const ExplainInput& clean, const ExplainInput& corrupt,
                                 std::size_t label, std::size_t pairs) const;

  /// Adds the tokens of the input and the label to a result.
  template <class Part>
  Explanation<Part> explain(const ExplainInput& input, std::size_t label, Part part) const {
    return {tokens_of(input), input.input.clipped, labels_[label], std::move(part)};
  }
  /// Returns the label that the model gives.
  std::size_t answer(const ExplainInput& input) const;
  /// Returns the label with this name or, if it is unset, the one that the model gives.
  std::size_t label_of(const ExplainInput& input, const std::optional<std::string>& label) const;
  /// Returns the tokens of a text: if there is a decoder, those that it reads, then the encoder's.
  /// Empty for a picture.
  std::vector<InputToken> tokens_of(const ExplainInput& input) const;
  /// Returns the number of the decoder's rows. 0: there is no decoder.
  std::size_t decoder_rows(const ExplainInput& input) const;
  const std::vector<std::string>& labels() const { return labels_; }
  Scoring scoring() const { return pipeline_.config().scoring; }

 private:
  // Throws `unsupported` for a method that does not explain decoders.
  void expect_no_decoder(const char* method) const;
  // Returns how many attention weights there are.
  std::uint64_t attention_numbers(const ExplainInput& input) const;
  EncoderRunner model() const {
    const EncoderRunner own = pipeline_.model();
    return {classifier_ ? *classifier_ : own.model, own.session};
  }
  Contrast contrast_of(std::size_t label) const;
  std::vector<float> pooling_of(const ExplainInput& input) const;
  // Runs the text and returns these tensors. Throws `too_large` if they would take too much memory.
  std::vector<TracedTensor> trace(const ExplainInput& input, std::vector<std::string> names) const;
  Stream stream(const ExplainInput& input) const;
  std::vector<std::size_t> cells_of(const ExplainInput& base) const;

  EncoderPipeline& pipeline_;
  std::vector<std::string> labels_;
  std::unique_ptr<const EncoderModel> classifier_;  // of a MatchPipeline; otherwise null
};

/// Explains what a decoder without an encoder writes next; see NextTokenExplainer.
class GenerationExplainer {
 public:
  /// Throws `unsupported` for a model with an encoder. The pipeline must outlive this.
  explicit GenerationExplainer(GeneratePipeline& pipeline);

  /// Reads a text, or the end of a long one, as Generator::next does. Throws the same errors.
  GenerationInput read(std::string_view text) const;
  std::vector<InputToken> tokens_of(const GenerationInput& input) const;
  std::size_t layers() const;

  Rollout rollout(const GenerationInput& input) const;
  ValueNorms value_norms(const GenerationInput& input) const;
  NextLens lens(const GenerationInput& input, std::size_t words) const;
  NextLogitAttribution direct_logit_attribution(const GenerationInput& input,
                                                const NextAttributionOptions& options) const;

  /// Activation patching between two texts. The caller runs the steps.
  PatchedPair patched_pair(std::string_view base, std::string_view donor,
                           const NextAttributionOptions& options) const;

  /// The lens, layer by layer: stream() runs the model, read_layer() reads one layer of the result.
  std::vector<TracedTensor> stream(const GenerationInput& input) const;
  std::vector<std::vector<Guess>> read_layer(std::span<const TracedTensor> stream,
                                             std::size_t layer, std::size_t words) const;
  /// The attribution, column by column.
  const NextTokenAttribution& attributions() const { return attributions_; }

 private:
  WriterRunner model() const;
  NextTokenRun run(const GenerationInput& input, std::vector<std::string> names) const;

  GeneratePipeline& pipeline_;
  NextTokenAttribution attributions_;
};

/// Starts explanations by a method of methods.hpp. For "activation_patching", each input is two
/// texts, the base and the donor; with `on_progress`, all cells are estimated first, and each step
/// shows the table.
///
/// A classifier with a decoder has all methods of classifiers except `value_norms`,
/// `value_zeroing`, `activation_patching`, `edges` and `circuit`; `tokens`, scores and the rows of
/// an attribution are those of the decoder, beginning with its start token, then those of the
/// encoder. For a picture, `grid` and `region` take the place of `tokens` in the results. A model
/// that compares pictures with texts requires `labels`: see MatchOptions.
///
/// For a translator, methods explain each sentence, except those that explain one token of one
/// sentence.
///
/// Throws `unsupported` for models of other tasks, and `invalid_option`, naming the option.
std::unique_ptr<TypedJob<ExplainedInput>> begin_explanation(Pipeline& pipeline,
                                                            const TaskInputs& inputs,
                                                            const ExplainRequest& request);
/// Starts explanations for a known task.
std::unique_ptr<TypedJob<ExplainedInput>> begin_explanation(ClassifyPipeline& pipeline,
                                                            std::span<const TextInput> texts,
                                                            const ExplainRequest& request);
std::unique_ptr<TypedJob<ExplainedInput>> begin_explanation(ImagePipeline& pipeline,
                                                            std::span<const Picture> pictures,
                                                            const ExplainRequest& request);
std::unique_ptr<TypedJob<ExplainedInput>> begin_explanation(MatchPipeline& pipeline,
                                                            std::span<const Picture> pictures,
                                                            const ExplainRequest& request);
std::unique_ptr<TypedJob<ExplainedInput>> begin_explanation(TranslatePipeline& pipeline,
                                                            std::span<const TextInput> texts,
                                                            const ExplainRequest& request);
std::unique_ptr<TypedJob<ExplainedInput>> begin_explanation(GeneratePipeline& pipeline,
                                                            std::span<const TextInput> texts,
                                                            const ExplainRequest& request);

/// Starts explanations with options in JSON.
std::unique_ptr<Job> begin_explanation_job(Pipeline& pipeline, const TaskInputs& inputs,
                                           const TaskOptions& options);

}  // namespace glassformer
