#pragma once

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
#include "glassformer/tokens.hpp"

namespace glassformer {

class GeneratePipeline;

/// What is put in the place of a model's next token: the most probable one, unless an option of
/// drawing is given (`sample`, `temperature`, `top_k`, `top_p`, `seed`) or the folder's
/// generation_config.json says otherwise. Given options win; those that are not are the folder's.
struct SampleOptions {
  std::optional<bool> sample = {};         ///< draw; false: do not, whatever the folder says
  std::optional<float> temperature = {};   ///< logits are divided by it; 0: do not draw
  std::optional<std::size_t> top_k = {};   ///< draw from so many most probable tokens; 0: from all
  std::optional<float> top_p = {};         ///< and from the fewest whose probabilities reach this
  std::optional<std::uint64_t> seed = {};  ///< the same seed, the same text; by default 0
  /// Above 1: tokens that the text already has become less probable (Keskar et al. 2019).
  std::optional<float> repetition_penalty = {};
};

/// What a Generator can show of a run. Looking changes no number of the answer.
struct DecoderOptions {
  bool attention = false;               ///< return every attention weight
  std::vector<std::string> trace = {};  ///< return the tensors of these names; see EncoderOptions
  std::vector<Patch> patch = {};        ///< numbers to replace, in every hypothesis
  std::vector<HeadIndex> ablate = {};   ///< heads, of the decoder, whose output becomes zero
};

/// What may be asked of Generator::generate.
struct GenerateOptions : SampleOptions, DecoderOptions {
  /// By default as the folder says, or 64; at most as many as the model has positions for.
  std::optional<std::size_t> max_new_tokens = {};
  std::optional<std::size_t> beams = {};     ///< 1 to max_beams: beam search, without drawing
  std::optional<float> length_penalty = {};  ///< score = log-probability / tokens ^ this
  bool hypotheses = false;                   ///< return what else beam search completed
  bool stream = false;                       ///< show each token as it comes
};

/// A text's continuation: P tokens in, N tokens out. T = P + N - 1 of them were read.
struct Generation {
  OutputText output;                      ///< what was written; offsets are in that alone
  std::vector<InputToken> prompt_tokens;  ///< [P] what was read first; offsets in the input
  bool clipped;                           ///< the prompt's beginning was left out
  bool ended;                             ///< with an end token, not at the most tokens
  std::vector<OutputText> hypotheses;     ///< best first, if asked for
  /// [layers, heads, T, T], if asked for: row i is the step that read token i, prompt and output
  /// taken together, and wrote token i + 1. What a step had not seen is 0.
  std::optional<AttentionMap> attention;
  std::vector<TracedTensor> trace;  ///< what was asked for; a row for each step
};

/// What may be asked of Generator::next.
struct NextOptions : SampleOptions, DecoderOptions {
  std::size_t count = 10;  ///< tokens to return, of those that may be drawn; 0: all
};

/// A token that may come next.
struct NextToken {
  std::int32_t id;
  std::string text;   ///< as InputToken::text
  float logprob;      ///< the model's own
  float probability;  ///< of being drawn: after penalty, temperature, top_k and top_p
};

/// What follows a text of P tokens.
struct Prediction {
  std::vector<NextToken> next;            ///< most probable first
  std::vector<InputToken> prompt_tokens;  ///< [P]
  bool clipped;                           ///< the text's beginning was left out
  std::optional<AttentionMap> attention;  ///< [layers, heads, P, P], if asked for
  std::vector<TracedTensor> trace;        ///< what was asked for
};

/// A token of a text under way.
struct GenerationStep {
  OutputToken token;
  std::string text;                       ///< what was written so far, of whole characters
  std::optional<AttentionMap> attention;  ///< [layers, heads, 1, T], if asked for
};

/// Text to its continuation. It answers one call at a time; use one per thread.
class Generator {
 public:
  /// Opens a model folder. Throws what Classifier::load does.
  static Generator load(const std::filesystem::path& folder, const LoadOptions& options = {});
  explicit Generator(std::unique_ptr<GeneratePipeline> pipeline);
  Generator(Generator&&) noexcept;
  Generator& operator=(Generator&&) noexcept;
  ~Generator();

  Compute compute() const;

  /// Throws `empty_input` for a text without tokens, `too_large`, `invalid_option` for options,
  /// heads or names that do not exist, and `non_finite` where a probability is not a finite number.
  /// Of a text with more tokens than the model has positions the last ones are read, as many as
  /// leave room for the new ones, but half the positions at least.
  Generation generate(std::string_view text, const GenerateOptions& options = {});

  /// The same for several texts. One text's error leaves the others' results alone.
  std::vector<std::variant<Generation, Error>> generate_batch(
      std::span<const std::string_view> texts, const GenerateOptions& options = {});

  /// With a call of `on_step` for each token that adds to the text. With more than one beam, a step
  /// shows the hypothesis in the lead, and a later one may take words back. What `on_step` throws
  /// ends the text.
  Generation stream(std::string_view text, const std::function<void(GenerationStep)>& on_step,
                    const GenerateOptions& options = {});

  /// Which tokens may follow, and how probable they are.
  Prediction next(std::string_view text, const NextOptions& options = {});

 private:
  std::unique_ptr<GeneratePipeline> pipeline_;
};

}  // namespace glassformer
