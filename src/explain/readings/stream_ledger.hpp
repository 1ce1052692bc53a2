#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "explain/results.hpp"
#include "explain/traced.hpp"
#include "kernels/compute.hpp"

namespace glassformer {

/// Splits a number that depends linearly on rows of a stack's residual stream into exact parts:
/// what embeddings, heads, feed-forward blocks and biases have added to these rows, with each
/// norm's scale frozen. A vector that is added to row i counts a_i · vector, where a_i is the
/// number's gradient; the gradient is passed back along the stream, from the place where the number
/// is read to the embeddings. A norm turns it into (γ ⊙ a - mean(γ ⊙ a)) / s (RMSNorm: without the
/// mean), and adds a · β to the biases. A head adds context_i · W_Oᵀ a_i; split by the token j that
/// it reads, A_ij v_j · W_Oᵀ a_i.
///
/// If there is an encoder, the rows that cross-attention reads follow those of the stack.
class StreamLedger {
 public:
  /// `trace`: has the tensors of ledger_tensors for as many layers as it is passed through.
  StreamLedger(const ExplainedStack& of, Compute compute, std::span<const TracedTensor> trace);

  /// Says that the number reads a row with this gradient [D]. Each row at most once.
  void read_row(std::size_t row, std::span<const float> gradient);
  /// Enters a part that is not in the stream.
  void enter(std::size_t row, LogitColumn::Kind column, double amount);

  /// Leads back from the stack's output, after its last norm, to the embeddings.
  void lead_back_stack();
  /// Leads back from the input of layer `end` to the embeddings.
  void lead_back_layers(std::size_t end);
  /// Leads back from the stream after a layer's self-attention, and after its norm, if that stands
  /// behind, to the layer's input.
  void lead_back_self_attention(std::size_t layer);
  /// Leads back from the output of a norm on these rows, [T, D].
  void lead_back_norm(const Norm& norm, const std::vector<float>& input);

  /// The gradients of a layer's heads: how the number depends on their contexts.
  struct HeadGradients {
    LogitColumn::Kind kind;  ///< head or cross_head
    std::size_t layer;
    std::span<const std::size_t> rows;  ///< of the queries
    std::span<const float> of_context;  ///< [rows, E]
  };
  using Observer = std::function<void(const HeadGradients&)>;
  /// Calls this for each attention that the ledger passes.
  void observe(Observer observer) { observer_ = std::move(observer); }

  std::size_t rows() const { return own_tokens_; }
  const std::vector<LogitColumn>& columns() const { return parts_.columns; }
  StreamParts take() { return std::move(parts_); }

 private:
  const TracedTensor& traced(std::string_view name) const {
    return find_traced(trace_, std::string(name_) + "." + std::string(name));
  }
  const TracedTensor& traced(std::size_t layer, std::string_view name) const {
    return find_traced(trace_, layer_name(name_, layer, name));
  }
  float* gradient(std::size_t row) { return gradient_.data() + row * width_; }

  std::size_t column(const LogitColumn& column) const {
    const auto found = std::ranges::find(parts_.columns, column);
    return static_cast<std::size_t>(found - parts_.columns.begin());
  }
  void enter_read(std::size_t token, std::size_t column, double amount) {
    parts_.read[token * parts_.columns.size() + column] += static_cast<float>(amount);
  }
  void enter_at(std::size_t token, std::size_t column, double amount) {
    parts_.written[token * parts_.columns.size() + column] += static_cast<float>(amount);
    enter_read(token, column, amount);
  }
  bool rounds() const { return parts_.columns.back().kind == LogitColumn::Kind::rounding; }

  void enter_rows(const LogitColumn& column, const TracedTensor& rows, std::span<const float> bias);
  // Calls enter_parts() with the gradient of a sublayer's output, which may have a norm of its own,
  // before it is added to the stream.
  template <class Enter>
  void enter_output(const Norm* norm, const TracedTensor& output, const Enter& enter_parts) {
    if (!norm) return enter_parts();
    const std::vector<float> stream = gradient_;
    lead_back_norm(*norm, output.data);
    enter_parts();
    gradient_ = stream;
  }
  // An attention of a layer, over the stack's own tokens or over the source's.
  struct Site {
    std::string name;
    LogitColumn::Kind kind;
    const Linear& out_proj;
    std::size_t first_key;  // row of the parts
  };
  void enter_attention(std::size_t layer, const Site& site);
  void enter_recurrent_unit(std::size_t layer);
  void lead_back_layer(std::size_t layer);
  void lead_back_projection(const Linear& projection);
  void enter_embeddings();

  const Stack& stack_;
  const StackInput& input_;
  const StackConfig& config_;
  std::string_view name_;
  std::span<const TracedTensor> trace_;
  StreamParts parts_;
  std::size_t own_tokens_;         // T; those of a source follow
  std::vector<std::size_t> rows_;  // rows that the number reads: others have no gradient
  std::vector<float> gradient_;    // [T, D] of the number with respect to the stream's rows
  Observer observer_;              // may be empty
  std::size_t width_;              // D, or the width of embeddings that are projected to it
};

/// Returns the names of the tensors that a ledger reads of a run, if it goes back through the
/// first `layers` layers.
std::vector<std::string> ledger_tensors(const Stack& stack, std::string_view name,
                                        std::size_t layers);

}  // namespace glassformer
