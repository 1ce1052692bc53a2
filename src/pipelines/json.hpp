#pragma once

#include <string>
#include <string_view>

#include "error.hpp"
#include "pipelines/classify.hpp"
#include "pipelines/translate.hpp"

// Results and options as JSON: the one form that the command line prints and JavaScript reads. A
// token's "text" is what the tokenizer displays for it.

namespace glassformer {

/// {"attention": bool, "contributions": bool, "ablate": [{"attention": "encoder", "layer": int,
/// "head": int}], "maskTokens": [int]}, every field optional. Throws `invalid_option` naming the
/// field for anything else.
ClassifyOptions parse_classify_options(std::string_view json);

/// {"beams": int, "lengthPenalty": number, "maxLength": int, "attention": bool, "alignment": bool
/// or
/// {"layer": int, "heads": [int]}, "hypotheses": bool, "stream": bool, "ablate": as above, with
/// "decoder" and "cross" too}, every field optional. Throws `invalid_option` naming the field.
TranslateOptions parse_translate_options(std::string_view json);

enum class AttentionData {
  left_out,  ///< shape only; the caller hands the weights over by itself
  base64,    ///< the weights as "data": f32, little-endian, base64
};

/// {label, score, scores, logits, tokens: [{id, text, start, end}], clipped, attention?,
/// contributions?}
std::string to_json(const Classification& result, const ClassifyPipeline& pipeline,
                    AttentionData data);

/// {text, score, sentences: [{text, score, tokens: [{id, text, start, end, logprob}], start, end,
/// targetStart, targetEnd, clipped, sourceTokens: [{id, text, start, end}], attention?: {encoder,
/// decoder, cross}, alignment?: [{target: {start, end}, source: {start, end}, weight}],
/// hypotheses?:
/// [{text, score, tokens}], tree?: [{parent, id, text, logprob, total, kept}]}]}
std::string to_json(const Translation& result, const TranslatePipeline& pipeline,
                    AttentionData data);

/// Where a session is: {done, step?: {token, text, before?, sentence?: {index, start, end,
/// targetStart, sourceTokens}, attention?: {encoder?, decoder, cross}}}. A step is there when it
/// emitted a token and the options say stream. `text` is the sentence's output so far, with what
/// follows the last one; `before` goes between what the step before showed and that. `before`,
/// `sentence` and `encoder` come with a sentence's first token.
std::string to_json(const TranslatePipeline::Session& session, const TranslatePipeline& pipeline,
                    AttentionData data);

/// {"error": {"code", "message"}}
std::string to_json(const Error& error);

/// What a loaded model is: {task, labels, layers, heads, …, parameters, compute}.
std::string describe_json(const ModelConfig& config, std::size_t parameters, Compute compute);

}  // namespace glassformer
