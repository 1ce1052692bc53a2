#pragma once

#include <string>
#include <string_view>

#include "error.hpp"
#include "pipelines/classify.hpp"

// Results and options as JSON: the one form that the command line prints and JavaScript reads.

namespace glassformer {

/// {"attention": bool, "contributions": bool, "ablate": [{"attention": "encoder", "layer": int,
/// "head": int}], "maskTokens": [int]}, every field optional. Throws `invalid_option` naming the
/// field for anything else.
ClassifyOptions parse_classify_options(std::string_view json);

enum class AttentionData {
  left_out,  ///< shape only; the caller hands the weights over by itself
  base64,    ///< the weights as "data": f32, little-endian, base64
};

/// {label, score, scores, logits, tokens: [{id, text, start, end}], clipped, attention?,
/// contributions?}
std::string to_json(const Classification& result, const ClassifyPipeline& pipeline,
                    AttentionData data);

/// {"error": {"code", "message"}}
std::string to_json(const Error& error);

/// What a loaded model is: {task, labels, layers, heads, …, parameters}.
std::string describe_json(const ModelConfig& config, std::size_t parameters);

}  // namespace glassformer
