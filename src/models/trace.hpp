#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layers/run.hpp"
#include "tensor/sizes.hpp"

namespace glassformer {

/// The attention weights of one sequence: [layers, heads, queries, keys], row-major. Row i of a
/// head says how query i spread its attention over the keys; it sums to 1.
struct AttentionMap {
  std::size_t layers = 0, heads = 0, queries = 0, keys = 0;
  std::vector<float> data = std::vector<float>(
      checked_product("attention weights", {layers, heads, queries, keys}), 0.0f);

  /// One head's matrix [queries, keys].
  std::span<float> at(std::size_t layer, std::size_t head) {
    return std::span(data).subspan((layer * heads + head) * queries * keys, queries * keys);
  }
  std::span<const float> at(std::size_t layer, std::size_t head) const {
    return std::span(data).subspan((layer * heads + head) * queries * keys, queries * keys);
  }
};

/// The three attentions of the figure: the encoder's, the decoder's own, and the decoder's over the
/// encoder's output.
enum class AttentionSite { encoder, decoder, cross };

/// One attention head.
struct HeadIndex {
  std::size_t layer, head;
  AttentionSite attention = AttentionSite::encoder;
};

/// A tensor of one sequence, by its name.
struct TracedTensor {
  std::string name;
  std::vector<std::size_t> shape;
  std::vector<float> data;
};

/// A map as a tensor [layers, heads, queries, keys].
TracedTensor to_tensor(std::string name, AttentionMap map);

/// What a caller wants to see of a forward pass, and which heads it wants ablated. It travels as an
/// argument; what was seen comes back as a result. Looking changes no number of the answer.
struct TraceRequest {
  bool attention = false;      ///< every attention weight, as maps
  bool contributions = false;  ///< what each token adds to the logits
  /// Names of tensors. "*" stands for any characters but a dot: "encoder.layers.*.output".
  ///
  ///   encoder.embed_tokens, .embed_positions, .embed_types   what was looked up, what is added
  ///   encoder.embeddings                             what enters layer 0
  ///   encoder.layers.0.input, .output                the stream before and after a block
  ///   ….self_attn_layer_norm, .final_layer_norm      a norm's result
  ///   ….self_attn.q, .k, .v, .context                [tokens, heads, d_head]
  ///   ….self_attn.scores, .weights                   [heads, queries, keys], what is masked -∞, 0
  ///   ….self_attn.output, .residual                  what is added; the stream after that
  ///   ….fc1, .fc2                                    after the activation; what is added
  ///   encoder.layer_norm, encoder.output             the final norm's result; what is read next
  ///   pooled, head.dense, logits
  ///
  /// A decoder's begin with "decoder", have `encoder_attn` beside `self_attn`, and a row for each
  /// step.
  std::vector<std::string> names = {};
  std::vector<HeadIndex> ablate = {};  ///< heads whose context becomes zero

  /// Whether a tracer has anything to do.
  bool looks() const { return attention || !names.empty() || !ablate.empty(); }
};

/// Whether a pattern of TraceRequest::names is this name's.
bool matches(std::string_view pattern, std::string_view name);

/// Knows where a run is, which tensors are wanted there and which heads are ablated.
class NamingTracer : public Tracer {
 public:
  /// The request outlives this.
  explicit NamingTracer(const TraceRequest& request) : request_(request) {}

  void enter(std::string_view scope) override;
  void enter(std::size_t index) override;
  void leave() override;
  bool wants(std::string_view name) const override;
  void see(std::string_view name, const CompleteRows& rows) override;
  std::span<float> map(std::string_view, std::size_t, std::size_t) override { return {}; }

 protected:
  /// Keeps rows that were asked for by their full name.
  virtual void keep(std::string name, const CompleteRows& rows) = 0;

  std::string full_name(std::string_view name) const { return path_ + std::string(name); }
  bool asked(std::string_view full_name) const;
  std::size_t layer() const { return layer_; }
  const TraceRequest& request() const { return request_; }

 private:
  bool ablates() const;
  AttentionSite site() const;

  const TraceRequest& request_;
  std::string path_;                 // "encoder.layers.2.self_attn."
  std::vector<std::size_t> before_;  // its length before each scope
  std::size_t layer_ = 0;
};

/// What was seen of one name: a row for each row of the runs, one after another.
struct TracedRows {
  std::string name;
  std::size_t heads, columns;
  std::vector<float> data;  ///< [rows, columns]

  /// The tensor of these rows: [count, columns], or [count, heads, columns / heads].
  template <class Rows>
  TracedTensor gather(const Rows& rows) const {
    TracedTensor tensor = {name, {rows.size(), columns}, {}};
    if (heads > 1) tensor.shape = {rows.size(), heads, columns / heads};
    tensor.data.reserve(rows.size() * columns);
    for (const std::size_t row : rows) {
      const auto from = data.begin() + static_cast<std::ptrdiff_t>(row * columns);
      tensor.data.insert(tensor.data.end(), from, from + static_cast<std::ptrdiff_t>(columns));
    }
    return tensor;
  }
};

/// The rows of each name, in the order in which names first came.
class RowRecorder {
 public:
  /// Copies rows to their places behind `base`, of `total` rows in all.
  void keep(std::string name, const CompleteRows& rows, std::size_t base, std::size_t total);
  const std::vector<TracedRows>& all() const { return all_; }

 private:
  std::vector<TracedRows> all_;
};

/// Traces one run over whole sequences.
class SequenceTracer final : public NamingTracer {
 public:
  /// Of a run through an encoder of so many layers with so many heads each; the sequences outlive
  /// this.
  SequenceTracer(const TraceRequest& request, const Sequences& sequences, std::size_t layers,
                 std::size_t heads);

  std::span<float> map(std::string_view name, std::size_t sequence, std::size_t head) override;

  /// A sequence's attention weights; once, if request.attention.
  AttentionMap take_attention(std::size_t sequence);
  /// The tensors that were asked for, of one sequence, in the order of the run.
  std::vector<TracedTensor> tensors(std::size_t sequence) const;

 protected:
  void keep(std::string name, const CompleteRows& rows) override;

 private:
  bool asks_for_maps(std::string_view name, std::size_t layers) const;

  const Sequences& sequences_;
  std::vector<AttentionMap> weights_, scores_;  // one a sequence, or none
  RowRecorder tokens_, whole_;                  // a row a token, a row a sequence
};

/// Appends to `tensors` the layers of a map that are asked for as "<stack>.layers.N.<name>".
void append_maps(const TraceRequest& request, const std::string& stack, const std::string& name,
                 const AttentionMap& map, std::vector<TracedTensor>& tensors);

}  // namespace glassformer
