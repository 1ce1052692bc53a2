#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "explain/traced.hpp"
#include "models/runner.hpp"
#include "models/whole_pass.hpp"

namespace glassformer {

/// A text of T tokens, or a picture of T rows, as an encoder reads it.
struct ExplainedText {
  std::vector<std::int32_t> ids;            ///< [T]; of a picture's rows, any
  std::vector<std::int32_t> types = {};     ///< [T], or empty: all of the first text
  std::vector<std::size_t> positions = {};  ///< [T], or empty: 0, 1, …
  Pixels pixels = {};                       ///< of a picture; otherwise empty

  std::size_t tokens() const { return ids.size(); }
  bool is_picture() const { return !pixels.values.empty(); }
  /// Appends this, with some tokens masked, to a batch of its kind.
  void add_to(Batch& batch, std::span<const std::size_t> masked = {}) const;
  void add_to(Pictures& pictures, std::span<const std::size_t> masked = {}) const;
  /// Returns a text alone.
  Batch batch(std::span<const std::size_t> masked = {}) const;
  /// Returns a pass over this alone.
  WholePass pass(std::span<const std::size_t> masked = {}) const;
};

/// Runs a text or a picture.
EncoderModel::Output run_input(const EncoderRunner& model, const ExplainedText& text,
                               const TraceRequest& request);

/// Returns the tensors of these names of a run on the text, in the order of the run.
std::vector<TracedTensor> trace(const EncoderRunner& model, const ExplainedText& text,
                                std::vector<std::string> names);

/// Returns the names of the tensors with each token's embedding or each patch's projection: those
/// of the decoder, if there is one, then those of the encoder.
std::vector<std::string> embeddings_names(const EncoderModel& model);

/// Returns the stack whose states the head reads: the decoder, if there is one.
ExplainedStack last_stack(const EncoderModel& model);

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
Stream stream_of(std::span<const TracedTensor> trace, std::size_t layers,
                 std::string_view stack = "encoder");

}  // namespace glassformer
