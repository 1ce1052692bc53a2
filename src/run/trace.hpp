#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "run/patch.hpp"
#include "run/run.hpp"
#include "tensor/sizes.hpp"

namespace glassformer {

/// A map as a tensor [layers, heads, queries, keys].
TracedTensor to_tensor(std::string name, AttentionMap map);
/// One of its layers, [heads, queries, keys].
TracedTensor layer_of(const AttentionMap& map, std::size_t layer, std::string name);

/// What a caller wants to see of a forward pass, and what it wants replaced there. It travels as an
/// argument; what was seen comes back as a result. Looking changes no number of the answer.
struct TraceRequest {
  bool attention = false;      ///< every attention weight, as maps
  bool contributions = false;  ///< what each token adds to the logits
  /// Names of tensors; tensors_of (models/model_tensors.hpp) lists those that a model has. "*"
  /// stands for any characters but a dot: "encoder.layers.*.output".
  std::vector<std::string> names = {};
  /// One after the other: of two for the same number the later one holds. A decoder's are for every
  /// hypothesis.
  std::vector<Patch> patches = {};

  /// Whether there is anything to be done for a tensor by its name.
  bool names_any() const { return !names.empty() || !patches.empty(); }
  /// Whether the tensor of this name is asked for.
  bool asks_for(std::string_view name) const;
};

/// Whether a pattern of TraceRequest::names is this name's.
bool matches(std::string_view pattern, std::string_view name);

/// What a key that a query does not see has: -∞, and no weight.
float unseen(MapKind kind);

/// Which of a run's maps one is: of a sequence, or of a row of a step.
struct MapPlace {
  std::size_t index;
  MapShape shape;
};

/// Knows where a run is, which tensors are wanted there and which are replaced.
class NamingTracer : public Tracer {
 public:
  /// The request outlives this.
  explicit NamingTracer(const TraceRequest& request);

  void enter(std::string_view scope) override;
  void enter(std::size_t index) override;
  void leave() override;
  bool wants(std::string_view name) const override;
  void done(std::string_view name, const CompleteRows& rows) override;
  MapOutput map(MapKind kind, std::size_t index, const MapShape& shape) override;

 protected:
  /// Keeps rows that were asked for by their full name.
  virtual void keep(std::string name, const CompleteRows& rows) = 0;
  /// Where a map goes, which is asked for by its full name.
  virtual float* keep_map(std::string name, MapKind kind, const MapPlace& place) = 0;
  /// The same, for who wants every layer's weights; null: nobody does.
  virtual float* keep_attention(const MapPlace&) { return nullptr; }
  /// The position of a row, or of a map's query or key, in its sequence.
  virtual std::size_t position(RowsOf of, std::size_t row) const = 0;
  virtual std::size_t query_position(std::size_t index, std::size_t query) const = 0;
  virtual std::size_t key_position(std::size_t index, std::size_t key) const = 0;

  std::size_t layer() const { return layer_; }
  const std::string& path() const { return path_; }
  const TraceRequest& request() const { return request_; }

 private:
  // Scores or weights that the run is about to make, some of which are replaced.
  class PatchedMap final : public MapPatch {
   public:
    explicit PatchedMap(const NamingTracer& tracer) : tracer_(tracer) {}
    void begin(std::string name, std::size_t index);
    bool replace(std::size_t head, std::size_t query, std::span<float> row) override;

    std::vector<float> room;  // where nobody else looks at them

   private:
    const NamingTracer& tracer_;
    std::string name_;
    std::size_t index_ = 0;
  };

  std::string full_name(std::string_view name) const { return path_ + std::string(name); }
  bool replaces(std::string_view full_name) const;

  const TraceRequest& request_;
  PatchedMap scores_, weights_;
  std::string path_;                 // "encoder.layers.2.self_attn."
  std::vector<std::size_t> before_;  // its length before each scope
  std::size_t layer_ = 0;
};

/// Traces one run over whole sequences.
class SequenceTracer final : public NamingTracer {
 public:
  /// Of a run through an encoder of so many layers with so many heads each; the sequences outlive
  /// this.
  SequenceTracer(const TraceRequest& request, const Sequences& sequences, std::size_t layers,
                 std::size_t heads);

  /// The tensors that were asked for, of one sequence, in the order of the run; once, and before
  /// its attention is taken.
  std::vector<TracedTensor> take_tensors(std::size_t sequence);
  /// A sequence's attention weights; once, if request.attention.
  AttentionMap take_attention(std::size_t sequence);

 protected:
  void keep(std::string name, const CompleteRows& rows) override;
  float* keep_map(std::string name, MapKind kind, const MapPlace& place) override;
  float* keep_attention(const MapPlace& place) override;
  std::size_t position(RowsOf of, std::size_t row) const override {
    return of == RowsOf::tokens ? positions_[row] : 0;
  }
  std::size_t query_position(std::size_t, std::size_t query) const override { return query; }
  std::size_t key_position(std::size_t, std::size_t key) const override { return key; }

 private:
  // A sequence's tensor of this name, [rows, columns] of zeros where it is new.
  TracedTensor& tensor(std::size_t sequence, const std::string& name, const CompleteRows& like);

  const Sequences& sequences_;
  std::vector<std::size_t> positions_;              // of each token, where something is replaced
  std::vector<AttentionMap> weights_;               // one a sequence, or none
  std::vector<std::vector<TracedTensor>> tensors_;  // a list a sequence
};

}  // namespace glassformer
