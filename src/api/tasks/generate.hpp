#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/encoder_options.hpp"
#include "api/output.hpp"
#include "api/tokens.hpp"
#include "families/config/early_stopping.hpp"
#include "families/config/sampling_settings.hpp"
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

/// How the next token is chosen: the most probable one, unless an option for sampling is given
/// (`sample`, `temperature`, `top_k`, `top_p`, `seed`) or the folder's generation_config.json
/// requests it. Unset options take the folder's values.
struct SampleOptions : SamplingSettings {
  std::optional<bool> sample = {};
  std::optional<std::uint64_t> seed = {};
  std::optional<std::vector<std::string>> bad_words = {};
  std::optional<std::vector<std::size_t>> suppress_tokens = {}, begin_suppress_tokens = {};
};

template <class Visit>
void fields(Visit& visit, SampleOptions& options) {
  fields(visit, static_cast<SamplingSettings&>(options));
  visit("sample", options.sample,
        {.help = "Sample the next token; false: take the most probable one, whatever the model's "
                 "files say.",
         .absent = "true if an option of sampling is given (`temperature`, `top_k`, `top_p`, "
                   "`min_p`, `typical_p`, `seed`), else "
                   "as the model's files say"});
  visit("seed", options.seed,
        {.help = "The same seed gives the same text on every machine, up to rounding.",
         .absent = "0",
         .least = 0,
         .most = Option::most_whole});
  visit("bad_words", options.bad_words,
        {.help = "Texts that are never generated, neither at the start of a text nor after a "
                 "space. They are still possible within a word, or spelled with other tokens.",
         .absent = "as the model's files say",
         .items = "texts"});
  visit("suppress_tokens", options.suppress_tokens,
        {.help = "Ids of tokens that are never generated.",
         .absent = "as the model's files say",
         .items = "ids of tokens"});
  visit("begin_suppress_tokens", options.begin_suppress_tokens,
        {.help = "Ids of tokens that are not generated first.",
         .absent = "as the model's files say",
         .items = "ids of tokens"});
}

/// Data to return in addition to the text, and changes to the run. Returning data does not change
/// the text.
struct DecoderOptions {
  bool attention = false;               ///< return all attention weights
  std::vector<std::string> trace = {};  ///< return the tensors with these names; see EncoderOptions
  std::vector<Patch> patch = {};        ///< numbers to replace, in every hypothesis
  std::vector<HeadIndex> ablate = {};   ///< heads whose output becomes zero
};

template <class Visit>
void fields(Visit& visit, DecoderOptions& options) {
  visit("attention", options.attention, about_attention);
  visit("trace", options.trace, about_trace);
  visit("patch", options.patch, about_patch);
  visit("ablate", options.ablate, about_ablate);
}

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

template <class Visit>
void fields(Visit& visit, TaskPromptOptions& options) {
  visit("task", options.task,
        {.help = "A task for which the folder's config.json has settings (task_specific_params), "
                 "such as translation_en_to_de. They override its other settings, options override "
                 "both, and the task's prefix is put before the text."});
  visit("prefix", options.prefix,
        {.help = "Put the prefix of the task, or of the folder, before the text."});
  visit(
      "special_tokens", options.special_tokens,
      {.help = "Put the tokenizer's special tokens around the text. A text that has its own, such "
               "as one from a chat template, needs no others. A model with an encoder always "
               "has them."});
}

/// Visits the options that generating a text and listing the next tokens share.
template <class Visit, class Options>
void shared_fields(Visit& visit, Options& options) {
  fields(visit, static_cast<TaskPromptOptions&>(options));
  fields(visit, static_cast<SampleOptions&>(options));
  fields(visit, static_cast<DecoderOptions&>(options));
}

/// Options of Generator::generate.
struct GenerateOptions : TaskPromptOptions, SampleOptions, DecoderOptions {
  /// Default: as the folder says, or 64. At most the number of positions of the model.
  std::optional<std::size_t> max_new_tokens = {};
  std::optional<std::size_t> min_new_tokens = {};  ///< before the text may end
  std::optional<std::size_t> beams = {};     ///< 1 to max_beams: beam search, without sampling
  std::optional<float> length_penalty = {};  ///< score = log-probability / tokens ^ this
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

template <class Visit>
void fields(Visit& visit, GenerateOptions& options) {
  visit("max_new_tokens", options.max_new_tokens,
        {.help = "The maximum number of tokens to write. The model's number of positions is a "
                 "limit, too.",
         .absent = "as the model's files say, or 64",
         .least = 1});
  visit("min_new_tokens", options.min_new_tokens,
        {.help = "The minimum number of tokens to write.",
         .absent = "as the model's files say, or 0"});
  visit("beams", options.beams,
        {.help = "The number of hypotheses of a beam search, which does not sample. 1: greedy.",
         .absent = "as the model's files say, or 1",
         .least = 1,
         .most = max_beams});
  visit("length_penalty", options.length_penalty,
        {.help = "With beams: a hypothesis' score is its log-probability / tokens ^ this. Above 0, "
                 "longer texts win.",
         .absent = "as the model's files say, or 1",
         .least = -max_length_penalty,
         .most = max_length_penalty});
  visit("early_stopping", options.early_stopping, about_early_stopping);
  visit("stop_strings", options.stop_strings,
        {.help = "The text ends with the token that completes one of these strings, and includes "
                 "that token. A string may begin in the prompt.",
         .absent = "as the model's files say",
         .items = "strings"});
  visit("hypotheses", options.hypotheses,
        {.help = "Return the other finished hypotheses of the beam search.", .adds = true});
  visit("stream", options.stream, {.help = "Report each token as it is generated.", .apart = true});
  visit("keep", options.keep,
        {.help = "Keep what was computed for this text and its continuation, and go on from what "
                 "an earlier call with this option kept, as far as both texts begin with the same "
                 "tokens. The answer is the same. The memory is freed with the model. No effect "
                 "with an encoder, beams, traces, patches or ablated heads."});
  shared_fields(visit, options);
}

/// The continuation of a text, or the answer of a model with an encoder: P tokens in, N tokens out.
/// The decoder read T tokens: for a continuation all but the last, T = P + N - 1; for an answer, a
/// start token and all but the last of its own, T = N.
struct Generation {
  OutputText output;                      ///< offsets are relative to its start
  std::vector<InputToken> prompt_tokens;  ///< [P]
  bool clipped;
  bool ended;
  std::vector<OutputText> hypotheses;
  GenerationAttention attention;    ///< if requested
  std::vector<TracedTensor> trace;  ///< the requested tensors, with one row per step
  std::optional<std::size_t> reused = {};
};

/// Visits the attention weights and traced tensors of a run.
template <class Visit>
void shown_fields(Visit& visit, GenerationAttention& attention, std::vector<TracedTensor>& trace) {
  visit.attention({&attention.encoder, &attention.decoder, &attention.cross});
  visit.trace(std::move(trace));
}

inline constexpr ResultField about_prompt_tokens = {
    .help =
        "The text as the model read it, prefix included. Places refer to the given text alone."};
inline constexpr ResultField about_clipped_prompt = {
    .help =
        "Whether the text was longer than the model's limit, and its beginning was left out or, if "
        "an encoder reads it, its end."};

template <class Visit>
void fields(Visit& visit, Generation& result) {
  fields(visit, result.output);
  visit("promptTokens", result.prompt_tokens, about_prompt_tokens);
  visit("clipped", result.clipped, about_clipped_prompt);
  visit("ended", result.ended,
        {.help = "Whether it ended with an end token or a stop string, not at the maximum number "
                 "of tokens."});
  visit("reused", result.reused,
        {.help = "The number of the text's tokens that an earlier call had read.", .with = "keep"});
  shown_fields(visit, result.attention, result.trace);
  visit("hypotheses", result.hypotheses,
        {.help = "The other finished hypotheses of the beam search, the best first.",
         .with = "hypotheses",
         .omitted = true});
}

/// Options of Generator::next.
struct NextOptions : TaskPromptOptions, SampleOptions, DecoderOptions {
  std::size_t count = 10;  ///< number of tokens to return, of those that may be sampled; 0: all
};

template <class Visit>
void fields(Visit& visit, NextOptions& options) {
  visit("count", options.count,
        {.help = "The number of tokens to return, of those that may be sampled. 0: all."});
  shared_fields(visit, options);
}

/// A token that may come next.
struct NextToken {
  std::int32_t id;
  std::string text;
  float logprob, probability;
};

template <class Visit>
void fields(Visit& visit, const NextToken& token) {
  visit("id", token.id, {.help = "Its number in the vocabulary."});
  visit("text", token.text, about_token_text);
  visit("logprob", token.logprob, {.help = "The natural logarithm of the model's probability."});
  visit("probability", token.probability,
        {.help = "The probability of being sampled: after penalties, temperature and the options "
                 "that leave out tokens, such as `top_k` and `top_p`."});
}

/// The tokens that may follow a text of P tokens.
struct Prediction {
  std::vector<NextToken> next;
  std::vector<InputToken> prompt_tokens;  ///< [P]
  bool clipped;
  GenerationAttention attention;    ///< if requested: T = P, or 1 with an encoder
  std::vector<TracedTensor> trace;  ///< the requested tensors
};

template <class Visit>
void fields(Visit& visit, Prediction& result) {
  visit("next", result.next, {.help = "The tokens that may come next, the most probable first."});
  visit("promptTokens", result.prompt_tokens, about_prompt_tokens);
  visit("clipped", result.clipped, about_clipped_prompt);
  shown_fields(visit, result.attention, result.trace);
}

/// A token of a text that is being written.
struct GenerationStep {
  OutputToken token;
  std::string text;               ///< the text so far, of whole characters
  GenerationAttention attention;  ///< the rows of this step, if requested; `encoder` in the first
};

}  // namespace glassformer
