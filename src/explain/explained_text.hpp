#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/runner.hpp"

namespace glassformer {

/// A text of T tokens, as an encoder reads it.
struct ExplainedText {
  std::vector<std::int32_t> ids;            ///< [T]
  std::vector<std::int32_t> types = {};     ///< [T], or empty: all of the first text
  std::vector<std::size_t> positions = {};  ///< [T], or empty: 0, 1, …

  std::size_t tokens() const { return ids.size(); }
  Batch batch(std::span<const std::size_t> masked = {}) const;
};

/// Returns the tensors of these names of a run on the text, in the order of the run.
std::vector<TracedTensor> trace(const EncoderRunner& model, const ExplainedText& text,
                                std::vector<std::string> names);

/// The residual stream, states [(L + 1) T, D]: the input of each block, and the output of the last.
struct Stream {
  std::size_t layers, tokens = 0, d_model = 0;
  std::vector<float> states = {};

  std::span<const float> row(std::size_t layer, std::size_t token) const {
    return std::span(states).subspan((layer * tokens + token) * d_model, d_model);
  }
};

/// Returns the names of the tensors that stream_of reads of a run on a stack of `layers` layers.
std::vector<std::string> stream_tensors(std::size_t layers, std::string_view stack = "encoder");
Stream stream_of(std::span<const TracedTensor> trace, std::size_t layers);

}  // namespace glassformer
