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

/// The attention of a Generator's model, if requested. Row i of `decoder` and `cross` is the step
/// that read the decoder's token i and wrote the next one. Tokens that a step had not seen have
/// weight 0.
struct GenerationAttention {
  /// [layers, heads, T, T]: over the decoder's tokens.
  std::optional<AttentionMap> decoder = {};
  /// For a model with an encoder: [layers, heads, P, P], and [layers, heads, T, P] over the text.
  std::optional<AttentionMap> encoder = {}, cross = {};
};

/// How the next token is chosen: the most probable one, unless an option for drawing is given
/// (`sample`, `temperature`, `top_k`, `top_p`, `seed`) or the folder's generation_config.json
/// requests it. Unset options take the folder's values.
struct SampleOptions {
  std::optional<bool> sample = {};         ///< draw; false: never, whatever the folder says
  std::optional<float> temperature = {};   ///< logits are divided by it; 0: do not draw
  std::optional<std::size_t> top_k = {};   ///< draw from the k most probable tokens; 0: from all
  std::optional<float> top_p = {};         ///< and from the fewest whose probabilities reach this
  std::optional<std::uint64_t> seed = {};  ///< the same seed gives the same text; default: 0
  /// Above 1: tokens that the text already contains become less probable (Keskar et al. 2019).
  std::optional<float> repetition_penalty = {};
  /// No n-gram of this size may occur twice in the text, prompt included. 0 disables the rule
  /// (Paulus et al. 2017).
  std::optional<std::size_t> no_repeat_ngram_size = {};
  /// Texts that are not written at the start of a text or after a space. They can still be written
  /// within a word or as other tokens. Default: the folder's.
  std::optional<std::vector<std::string>> bad_words = {};
  std::optional<std::vector<std::size_t>> suppress_tokens = {};  ///< ids that are never written
  std::optional<std::vector<std::size_t>> begin_suppress_tokens = {};  ///< not written first
};

/// Data to return in addition to the text, and changes to the run. Returning data does not change
/// the text.
struct DecoderOptions {
  bool attention = false;               ///< return all attention weights
  std::vector<std::string> trace = {};  ///< return the tensors with these names; see EncoderOptions
  std::vector<Patch> patch = {};        ///< numbers to replace, in every hypothesis
  std::vector<HeadIndex> ablate = {};   ///< heads whose output becomes zero
};

/// The settings of the folder that a call uses.
struct TaskPromptOptions {
  /// A task for which the folder's config.json has settings (`task_specific_params`), such as
  /// "translation_en_to_de". They override the folder's other settings; given options override
  /// both.
  std::optional<std::string> task = {};
  /// Put the task's prefix, or otherwise the folder's, before the text.
  bool prefix = true;
  /// Put the tokenizer's special tokens around the text. False for a text that has its own, such as
  /// one from a chat template; not with an encoder.
  bool special_tokens = true;
};

/// Options of Generator::generate.
struct GenerateOptions : TaskPromptOptions, SampleOptions, DecoderOptions {
  /// Default: as the folder says, or 64. At most the number of positions of the model.
  std::optional<std::size_t> max_new_tokens = {};
  std::optional<std::size_t> min_new_tokens = {};  ///< before the text may end
  std::optional<std::size_t> beams = {};           ///< 1 to max_beams: beam search, without drawing
  std::optional<float> length_penalty = {};        ///< score = log-probability / tokens ^ this
  std::optional<EarlyStopping> early_stopping = {};  ///< with beams; default: as the folder says
  /// The text ends with the token that completes one of these strings, and includes that token. A
  /// string may begin in the prompt. Default: the folder's.
  std::optional<std::vector<std::string>> stop_strings = {};
  bool hypotheses = false;  ///< return the other results of beam search
  bool stream = false;      ///< report each token as it is generated
  /// Keep what was computed for this text and its continuation, and go on from what an earlier call
  /// with `keep` of this thread kept, as far as the texts begin with the same tokens. The answer is
  /// the same to the bit; the memory is freed with the model. No effect with an encoder, several
  /// beams, a trace, patches or ablated heads.
  bool keep = false;
};

/// The continuation of a text, or the answer of a model with an encoder: P tokens in, N tokens out.
/// The decoder read T tokens: for a continuation all but the last, T = P + N - 1; for an answer, a
/// start token and all but the last of its own, T = N.
struct Generation {
  OutputText output;                      ///< the written text; offsets are relative to its start
  std::vector<InputToken> prompt_tokens;  ///< [P] read first, prefix included; offsets in the input
  bool clipped;  ///< whether its start was dropped; with an encoder, its end
  bool ended;    ///< whether an end token or a stop string ended it, not the limit
  std::vector<OutputText> hypotheses;  ///< best first, if requested
  GenerationAttention attention;       ///< if requested
  std::vector<TracedTensor> trace;     ///< the requested tensors, with one row per step
  /// With `keep`: the tokens of the prompt that an earlier call had read.
  std::optional<std::size_t> reused = {};
};

/// Options of Generator::next.
struct NextOptions : TaskPromptOptions, SampleOptions, DecoderOptions {
  std::size_t count = 10;  ///< number of tokens to return, of those that may be drawn; 0: all
};

/// A token that may come next.
struct NextToken {
  std::int32_t id;
  std::string text;   ///< as in InputToken
  float logprob;      ///< according to the model
  float probability;  ///< of being drawn: after penalty, temperature, top_k and top_p
};

/// The tokens that may follow a text of P tokens.
struct Prediction {
  std::vector<NextToken> next;            ///< most probable first
  std::vector<InputToken> prompt_tokens;  ///< [P]
  bool clipped;                           ///< as in Generation
  GenerationAttention attention;          ///< if requested: T = P, or 1 with an encoder
  std::vector<TracedTensor> trace;        ///< the requested tensors
};

/// A token of a text that is being written.
struct GenerationStep {
  OutputToken token;
  std::string text;               ///< the text so far, of whole characters
  GenerationAttention attention;  ///< the rows of this step, if requested; `encoder` in the first
};

}  // namespace glassformer
