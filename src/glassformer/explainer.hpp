#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "glassformer/compute.hpp"
#include "glassformer/error.hpp"
#include "glassformer/explain.hpp"
#include "glassformer/text_input.hpp"
#include "glassformer/tokens.hpp"

namespace glassformer {

class ClassifyPipeline;
class GeneratePipeline;

/// Explains a classifier's answers. For the text, every method throws the same errors as
/// Classifier::classify, and `invalid_option` for an unknown label. Any number of threads may call
/// it at a time.
class Explainer {
 public:
  /// Opens a model folder. Throws the same errors as Classifier::load.
  static Explainer load(const std::filesystem::path& folder, const LoadOptions& options = {});
  explicit Explainer(std::unique_ptr<ClassifyPipeline> pipeline);
  Explainer(Explainer&&) noexcept;
  Explainer& operator=(Explainer&&) noexcept;
  ~Explainer();

  /// Computes attention rollout (Abnar and Zuidema 2020): the product of ½ (mean of its heads + I)
  /// over the layers.
  Explanation<Rollout> rollout(const TextInput& text);
  /// Computes value-weighted attention (Kobayashi et al. 2020).
  Explanation<ValueNorms> value_norms(const TextInput& text);
  /// Computes value zeroing (Mohebbi et al. 2023). Throws `unsupported` unless compute is f32.
  Explanation<ZeroedValues> value_zeroing(const TextInput& text);
  /// Computes gradient × input (Shrikumar et al. 2017) of the token embeddings. This and the next
  /// two throw `unsupported` unless compute is f32.
  Explanation<GradientScores> gradient_times_input(
      const TextInput& text, const std::optional<std::string>& label = std::nullopt);
  /// Computes integrated gradients (Sundararajan et al. 2017) of the token embeddings, from zeros,
  /// at the midpoints of 64 steps, or of up to 256 if the gap is larger than 2 %.
  Explanation<IntegratedGradients> integrated_gradients(
      const TextInput& text, const std::optional<std::string>& label = std::nullopt);
  /// Computes relevance by attention and its gradients (Chefer et al. 2021).
  Explanation<Relevance> relevance(const TextInput& text,
                                   const std::optional<std::string>& label = std::nullopt);
  /// Passes the explained number back to the token embeddings by rules for each kind of layer:
  /// AttnLRP (Achtibat et al. 2024), or CP-LRP (Ali et al. 2022), which takes attention weights and
  /// gates as constants. Both throw `unsupported` unless compute is f32, and for linear attention.
  Explanation<PropagatedRelevance> attn_lrp(const TextInput& text,
                                            const std::optional<std::string>& label = std::nullopt);
  Explanation<PropagatedRelevance> cp_lrp(const TextInput& text,
                                          const std::optional<std::string>& label = std::nullopt);
  /// Computes the logit lens (nostalgebraist 2020). The head was not trained on states of early
  /// layers.
  Explanation<Lens> lens(const TextInput& text);
  /// Splits the explained number into an exact sum, with the scales of norms frozen (Elhage et al.
  /// 2021).
  Explanation<LogitAttribution> direct_logit_attribution(
      const TextInput& text, const LogitAttributionOptions& options = {});
  /// Patches activations (Meng et al. 2022), for all layers and tokens: puts the donor's vectors
  /// into the base's run.
  Explanation<PatchingResult> activation_patching(const TextInput& base, const TextInput& donor,
                                                  const ActivationPatchingOptions& options = {});
  /// Computes deletion and insertion curves (Petsiuk et al. 2018) of an order of the text's words.
  Explanation<Faithfulness> faithfulness(const TextInput& text,
                                         const FaithfulnessOptions& options = {});
  /// Computes the explained number without these edges. Throws `unsupported` unless compute is f32.
  Explanation<CutEffects> cut(const TextInput& text, std::span<const AttentionEdge> edges,
                              Cut cut = Cut::scores,
                              const std::optional<std::string>& label = std::nullopt);
  /// Finds, greedily, a few heads and edges that keep the label and the share `least` of the
  /// explained number (Conmy et al. 2023). Throws `unsupported` unless compute is f32.
  Explanation<Circuit> circuit(const TextInput& text, float least = 0.8f);
  /// Finds the edges of the model's graph that carry the difference between the answers to two
  /// texts of equally many tokens (Hanna et al. 2024, EAP-IG). The label is by default the clean
  /// text's. Throws `unsupported` for a model whose norms are not all before sublayers.
  Explanation<EdgeCircuit> circuit(const TextInput& clean, const TextInput& corrupt,
                                   const EdgeCircuitOptions& options,
                                   const std::optional<std::string>& label = std::nullopt);

 private:
  std::unique_ptr<ClassifyPipeline> pipeline_;
};

/// Explains what a decoder without an encoder, such as a GPT, would write next. The answer is
/// computed from the last token's row, which the other tokens influence only through attention
/// heads. Every method reads a text and throws errors as Generator::next does. Handles one call at
/// a time.
class NextTokenExplainer {
 public:
  /// Opens a model folder. Throws the same errors as Generator::load, and `unsupported` for a model
  /// with an encoder.
  static NextTokenExplainer load(const std::filesystem::path& folder,
                                 const LoadOptions& options = {});
  explicit NextTokenExplainer(std::unique_ptr<GeneratePipeline> pipeline);
  NextTokenExplainer(NextTokenExplainer&&) noexcept;
  NextTokenExplainer& operator=(NextTokenExplainer&&) noexcept;
  ~NextTokenExplainer();

  /// As in Explainer; `scores` are those of the last token.
  Explanation<Rollout> rollout(std::string_view text);
  /// As in Explainer.
  Explanation<ValueNorms> value_norms(std::string_view text);
  /// Computes the `words` most probable next tokens that the final norm and the projection give for
  /// each layer's input (nostalgebraist 2020).
  Explanation<NextLens> lens(std::string_view text, std::size_t words = 5);
  /// Splits the lead of one token over another into an exact sum (Elhage et al. 2021; Yin and
  /// Neubig 2022). Throws `invalid_option` for tokens that do not exist.
  Explanation<NextLogitAttribution> direct_logit_attribution(
      std::string_view text, const NextAttributionOptions& options = {});
  /// Patches activations between two texts, as in Explainer; the number is the lead of one next
  /// token over another. Default: the most probable one of the donor over that of the base or, if
  /// they are the same, the two whose probabilities rise and fall most.
  Explanation<NextPatchingResult> activation_patching(std::string_view base, std::string_view donor,
                                                      const NextPairOptions& options = {});
  /// Computes the gradients of the same lead with respect to the tensors with these names; see
  /// EncoderOptions::trace. This and the next five throw `unsupported` unless compute is f32, and
  /// `invalid_option` for names and tokens that do not exist.
  Explanation<NextGradientTensors> gradients(std::string_view text,
                                             const std::vector<std::string>& names,
                                             const NextPairOptions& options = {});
  /// As in Explainer, for the same lead.
  Explanation<NextGradientScores> gradient_times_input(std::string_view text,
                                                       const NextPairOptions& options = {});
  /// As in Explainer, for the same lead. `baseline`: the token whose embedding the others begin
  /// with, instead of zeros. A model with RMS norms needs it: they remove the length of an
  /// embedding, so on the way from zeros almost all changes near zero, and the gap is large.
  Explanation<NextIntegratedGradients> integrated_gradients(
      std::string_view text, const NextPairOptions& options = {},
      std::optional<std::size_t> baseline = std::nullopt);
  Explanation<NextRelevance> relevance(std::string_view text, const NextPairOptions& options = {});
  Explanation<NextPropagatedRelevance> attn_lrp(std::string_view text,
                                                const NextPairOptions& options = {});
  Explanation<NextPropagatedRelevance> cp_lrp(std::string_view text,
                                              const NextPairOptions& options = {});
  /// Value zeroing (Mohebbi et al. 2023), for the row that predicts the token; see
  /// NextValueZeroing. Throws `unsupported` unless compute is f32.
  Explanation<NextZeroedValues> value_zeroing(std::string_view text,
                                              const NextPairOptions& options = {});
  /// As in Explainer, for the same lead: tokens are left out, each by itself.
  Explanation<NextFaithfulness> faithfulness(std::string_view text,
                                             const FaithfulnessOptions& options = {},
                                             const NextPairOptions& pair = {});
  /// Finds the edges of the model's graph that carry the difference between the next tokens of two
  /// texts of equally many tokens (Hanna et al. 2024, EAP-IG). Throws `unsupported` unless compute
  /// is f32, and for models whose norms do not stand before sublayers only.
  Explanation<NextEdgeCircuit> circuit(std::string_view clean, std::string_view corrupt,
                                       const EdgeCircuitOptions& options = {},
                                       const NextPairOptions& pair = {});

  /// Reads the model's dictionaries from a folder that `glassformer train --lessons dictionary` has
  /// written. Throws `invalid_weights` if they were made for another model.
  void load_dictionaries(const std::filesystem::path& folder);
  /// Explains the same lead by features (Ameisen et al. 2025). Throws `invalid_option` without
  /// dictionaries, and `unsupported` unless they are transcoders and compute is f32.
  Explanation<NextAttributionGraph> attribution_graph(std::string_view text,
                                                      const AttributionGraphOptions& options = {},
                                                      const NextPairOptions& pair = {});

 private:
  std::unique_ptr<GeneratePipeline> pipeline_;
};

}  // namespace glassformer
