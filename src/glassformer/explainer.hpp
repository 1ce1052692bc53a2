#pragma once

#include <optional>
#include <span>
#include <string>

#include "glassformer/explain.hpp"

namespace glassformer {

class GeneratePipeline;

/// What may be asked of Explainer::ledger.
struct LedgerOptions {
  std::optional<std::string> label = {};  ///< what is explained; none: the model's answer
  bool effects = false;                   ///< measure what is lost without each column, too
};

/// What may be asked of Explainer::transplant.
struct TransplantOptions {
  std::optional<std::string> label = {};  ///< none: the base's
  TransplantSite site = {};
};

/// A transplant's table, and the donor beside the base.
struct TransplantResult {
  TransplantTable table;
  std::vector<InputToken> donor_tokens;
  std::vector<std::optional<std::size_t>>
      donor_of;  ///< of each of the base's tokens; none: unpaired
  /// The position that each token was given, the same for both of a pair.
  std::vector<std::size_t> base_columns, donor_columns;
};

/// What may be asked of Explainer::faithfulness.
struct FaithfulnessOptions {
  std::vector<float> scores = {};         ///< of each token; empty: those of `of`
  std::string of = "rollout";             ///< "rollout", "value_norms" or "ledger"
  std::optional<std::string> label = {};  ///< none: the model's answer
  std::size_t orders = 20;                ///< random ones
  std::uint32_t seed = 1;
};

/// What may be asked of NextTokenExplainer::ledger.
struct NextLedgerOptions {
  std::optional<std::int32_t> token = {};    ///< what is explained; none: the likeliest
  std::optional<std::int32_t> against = {};  ///< and not this one; none: the likeliest other
  bool effects = false;                      ///< measure what is lost without each column, too
};

/// Explains a classifier's answers. Every method throws what Classifier::classify does of a text,
/// and `invalid_option` for a label that there is not. It answers one call at a time.
class Explainer {
 public:
  /// Opens a model folder; as Classifier::load.
  static Explainer load(const std::filesystem::path& folder, const LoadOptions& options = {});
  explicit Explainer(std::unique_ptr<ClassifyPipeline> pipeline);
  Explainer(Explainer&&) noexcept;
  Explainer& operator=(Explainer&&) noexcept;
  ~Explainer();

  /// Attention rollout (Abnar and Zuidema 2020): each layer is ½ (mean of its heads + I); layers
  /// multiply.
  Explanation<Rollout> rollout(const TextInput& text);
  /// Value-weighted attention (Kobayashi et al. 2020).
  Explanation<ValueNorms> value_norms(const TextInput& text);
  /// The logit lens (nostalgebraist 2020). Early layers are off what the head was trained on.
  Explanation<Lens> lens(const TextInput& text);
  /// The number explained as an exact sum, norms' scales frozen (Elhage et al. 2021).
  Explanation<Ledger> ledger(const TextInput& text, const LedgerOptions& options = {});
  /// Activation patching (Meng et al. 2022) for all layers and tokens: the donor's vectors in the
  /// base's run.
  Explanation<TransplantResult> transplant(const TextInput& base, const TextInput& donor,
                                           const TransplantOptions& options = {});
  /// Deletion and insertion curves (Petsiuk et al. 2018) of an order of the text's words.
  Explanation<Faithfulness> faithfulness(const TextInput& text,
                                         const FaithfulnessOptions& options = {});
  /// What is left of the number without these arrows. Throws `unsupported` with compute int8.
  Explanation<CutEffects> cut(const TextInput& text, std::span<const AttentionEdge> edges,
                              Cut cut = Cut::scores,
                              const std::optional<std::string>& label = std::nullopt);
  /// Few heads and arrows that keep the label and `least` of the number explained, found greedily
  /// (Conmy et al. 2023). Throws `unsupported` with compute int8.
  Explanation<Circuit> circuit(const TextInput& text, float least = 0.8f);

 private:
  std::unique_ptr<ClassifyPipeline> pipeline_;
};

/// Explains what a decoder alone, such as a GPT, would write next. The answer is read from the last
/// token's row: what stands in the others reaches it by the heads alone. Every method reads a text,
/// and throws, as Generator::next does. It answers one call at a time.
class NextTokenExplainer {
 public:
  /// Opens a model folder; as Generator::load. Throws `unsupported` for a model with an encoder.
  static NextTokenExplainer load(const std::filesystem::path& folder,
                                 const LoadOptions& options = {});
  explicit NextTokenExplainer(std::unique_ptr<GeneratePipeline> pipeline);
  NextTokenExplainer(NextTokenExplainer&&) noexcept;
  NextTokenExplainer& operator=(NextTokenExplainer&&) noexcept;
  ~NextTokenExplainer();

  /// As Explainer's; `scores` are the last token's.
  Explanation<Rollout> rollout(std::string_view text);
  Explanation<ValueNorms> value_norms(std::string_view text);
  /// The likeliest next tokens, `words` of them, as the final norm and the projection read them
  /// from each layer (nostalgebraist 2020).
  Explanation<NextLens> lens(std::string_view text, std::size_t words = 5);
  /// How far one token is ahead of another, as an exact sum (Elhage et al. 2021; Yin and Neubig
  /// 2022). Throws `invalid_option` for tokens that there are not.
  Explanation<NextLedger> ledger(std::string_view text, const NextLedgerOptions& options = {});

 private:
  std::unique_ptr<GeneratePipeline> pipeline_;
};

}  // namespace glassformer
