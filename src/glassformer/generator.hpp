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
#include "glassformer/text_input.hpp"
#include "glassformer/tokens.hpp"

namespace glassformer {

class GeneratePipeline;

/// How a Generator's model spread its attention, where that was asked for. Row i of `decoder` and
/// `cross` is the step that read the decoder's token i and wrote what came next: what it had not
/// seen is 0.
struct GenerationAttention {
  /// [layers, heads, T, T]: over what the decoder read itself.
  std::optional<AttentionMap> decoder = {};
  /// Of a model with an encoder: [layers, heads, P, P], and [layers, heads, T, P] over the text.
  std::optional<AttentionMap> encoder = {}, cross = {};
};

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
  /// Above 0: so many tokens in a row come once in a text, its prompt included (Paulus et al.
  /// 2017).
  std::optional<std::size_t> no_repeat_ngram_size = {};
  /// Texts that are not written, neither at the start of a text nor behind a space; where one
  /// begins within a word, or is spelled in other tokens, it may be. None: the folder's.
  std::optional<std::vector<std::string>> bad_words = {};
  std::optional<std::vector<std::size_t>> suppress_tokens = {};  ///< ids that are never written,
  std::optional<std::vector<std::size_t>> begin_suppress_tokens = {};  ///< or not as the first one
};

/// What a Generator can show of a run. Looking changes no number of the answer.
struct DecoderOptions {
  bool attention = false;               ///< return every attention weight
  std::vector<std::string> trace = {};  ///< return the tensors of these names; see EncoderOptions
  std::vector<Patch> patch = {};        ///< numbers to replace, in every hypothesis
  std::vector<HeadIndex> ablate = {};   ///< heads whose output becomes zero
};

/// Which settings of the folder a call uses.
struct TaskPromptOptions {
  /// A task that the folder's config.json has settings for (`task_specific_params`), such as
  /// "translation_en_to_de": they win over the folder's other settings, given options over both.
  std::optional<std::string> task = {};
  /// Put the task's prefix, or else the folder's, before the text.
  bool prefix = true;
};

/// What may be asked of Generator::generate.
struct GenerateOptions : TaskPromptOptions, SampleOptions, DecoderOptions {
  /// By default as the folder says, or 64; at most as many as the model has positions for.
  std::optional<std::size_t> max_new_tokens = {};
  std::optional<std::size_t> min_new_tokens = {};  ///< before the text may end
  std::optional<std::size_t> beams = {};           ///< 1 to max_beams: beam search, without drawing
  std::optional<float> length_penalty = {};        ///< score = log-probability / tokens ^ this
  std::optional<EarlyStopping> early_stopping = {};  ///< with beams; by default as the folder says
  /// The text ends with the token that makes it contain one of these, which it includes, with what
  /// else that token has. It may begin in the prompt. None: the folder's.
  std::optional<std::vector<std::string>> stop_strings = {};
  bool hypotheses = false;  ///< return what else beam search completed
  bool stream = false;      ///< show each token as it comes
};

/// A text's continuation, or the answer of a model with an encoder: P tokens in, N tokens out. The
/// decoder read T of them: all but the last, T = P + N - 1; of an answer, a start token and all but
/// the last of its own, T = N.
struct Generation {
  OutputText output;  ///< what was written; offsets are in that alone
  std::vector<InputToken>
      prompt_tokens;  ///< [P] what was read first, prefix included; offsets in the input
  bool clipped;       ///< its beginning was left out; of an encoder's, its end
  bool ended;         ///< with an end token or a stop string, not at the most tokens
  std::vector<OutputText> hypotheses;  ///< best first, if asked for
  GenerationAttention attention;       ///< if asked for
  std::vector<TracedTensor> trace;     ///< what was asked for; a row for each step
};

/// What may be asked of Generator::next.
struct NextOptions : TaskPromptOptions, SampleOptions, DecoderOptions {
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
  bool clipped;                           ///< as Generation::clipped
  GenerationAttention attention;          ///< if asked for: T = P, or 1 behind an encoder
  std::vector<TracedTensor> trace;        ///< what was asked for
};

/// A token of a text under way.
struct GenerationStep {
  OutputToken token;
  std::string text;               ///< what was written so far, of whole characters
  GenerationAttention attention;  ///< if asked for: its rows; `encoder` with the first
};

/// Text to its continuation, or to a model's answer. It answers one call at a time; use one per
/// thread.
class Generator {
 public:
  /// Opens a model folder. Throws what Classifier::load does.
  static Generator load(const std::filesystem::path& folder, const LoadOptions& options = {});
  explicit Generator(std::unique_ptr<GeneratePipeline> pipeline);
  Generator(Generator&&) noexcept;
  Generator& operator=(Generator&&) noexcept;
  ~Generator();

  Compute compute() const;

  /// An empty text is begun with the folder's token for that (`bos_token_id`); throws `empty_input`
  /// for a text without tokens where there is none, `too_large`, `invalid_option` for options,
  /// tasks, heads or names that do not exist, `unsupported` or `invalid_config` for a task's
  /// settings, and `non_finite` where a probability is not a finite number. Of a text with more
  /// tokens than the model has positions the last ones are read, as many as leave room for the new
  /// ones, but half the positions at least; by an encoder, the first ones.
  Generation generate(std::string_view text, const GenerateOptions& options = {});

  /// The same for several texts. One text's error leaves the others' results alone.
  std::vector<std::variant<Generation, Error>> generate_batch(const Texts& texts,
                                                              const GenerateOptions& options = {});

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
