#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "run/run.hpp"
#include "run/scope_path.hpp"
#include "run/trace/apply_patch.hpp"
#include "run/trace/traced_tensor.hpp"
#include "tensor/sizes.hpp"

namespace glassformer {

/// Returns a map as a tensor [layers, heads, queries, keys].
TracedTensor to_tensor(std::string name, AttentionMap map);
/// Returns one layer of a map, [heads, queries, keys].
TracedTensor layer_of(const AttentionMap& map, std::size_t layer, std::string name);

/// A request to return tensors of a forward pass and to replace numbers in it. It is passed as an
/// argument; traces are returned as a result. Tracing does not change the answer.
struct TraceRequest {
  bool attention = false;      ///< all attention weights, as maps
  bool contributions = false;  ///< what each token adds to the logits
  /// Names of tensors; a model's `tensors` lists them. "*" stands for any characters except a dot:
  /// "encoder.layers.*.output".
  std::vector<std::string> names = {};
  /// Names of tensors whose gradients are requested.
  std::vector<std::string> gradients = {};
  /// Applied in order: if two replace the same number, the later one wins. Those of a decoder apply
  /// to every hypothesis.
  std::vector<Patch> patches = {};

  /// Returns whether any tensor is requested or replaced by its name.
  bool names_any() const { return !names.empty() || !patches.empty(); }
  /// Returns whether any tensor, or its gradient, is requested or replaced by its name.
  bool asks_any() const { return names_any() || (!gradients.empty()); }
  /// Returns whether the tensor of this name, or its gradient, is requested.
  bool asks_for_any(std::string_view name) const;
  /// Returns whether the tensor of this name is requested.
  bool asks_for(std::string_view name) const;
  /// Returns whether the tensor of this name is requested or replaced.
  bool touches(std::string_view name) const;
};

/// Returns whether a pattern of TraceRequest::names matches this name.
bool matches(std::string_view pattern, std::string_view name);
/// Returns whether a name matches one of these patterns.
bool matches_any(std::span<const std::string> patterns, std::string_view name);

/// Returns the value of a key that a query does not see: a score of -∞, a weight of 0.
float unseen(MapKind kind);

/// Identifies one of a run's maps: `index` is that of a sequence, or of a row of a step.
struct MapPlace {
  std::size_t index;
  MapShape shape;
};

/// Tracks the current scope of a run, and which of its tensors are requested and replaced.
class NamingTracer : public Tracer {
 public:
  /// The request must outlive this object.
  explicit NamingTracer(const TraceRequest& request);

  void enter(std::string_view scope) override { path_.enter(scope); }
  void enter(std::size_t index) override;
  void leave() override { path_.leave(); }
  bool wants(std::string_view name) const override;
  void done(std::string_view name, const CompleteRows& rows) override;
  MapOutput map(MapKind kind, std::size_t index, const MapShape& shape) override;

 protected:
  /// Stores rows that were requested by their full name.
  virtual void keep(std::string name, const CompleteRows& rows) = 0;
  /// Returns the buffer for the map `name`, which was requested by its full name.
  virtual float* keep_map(std::string name, MapKind kind, const MapPlace& place) = 0;
  /// Returns the buffer for all layers' weights, or null if they were not requested.
  virtual float* keep_attention(const MapPlace&) { return nullptr; }
  /// Return the position of a row, or of a map's query or key, in its sequence.
  virtual std::size_t position(RowsOf of, std::size_t row) const = 0;
  virtual std::size_t query_position(std::size_t index, std::size_t query) const = 0;
  virtual std::size_t key_position(std::size_t index, std::size_t key) const = 0;

  std::size_t layer() const { return layer_; }
  std::string_view path() const { return path_.text(); }
  const TraceRequest& request() const { return request_; }

 private:
  // Scores or weights that are about to be computed, some of which are replaced.
  class PatchedMap final : public MapPatch {
   public:
    explicit PatchedMap(const NamingTracer& tracer) : tracer_(tracer) {}
    void begin(std::string name, std::size_t index);
    bool replace(std::size_t head, std::size_t query, std::span<float> row) override;

    std::vector<float> room;  // the buffer, if the map is not requested

   private:
    const NamingTracer& tracer_;
    std::string name_;
    std::size_t index_ = 0;
  };

  bool replaces(std::string_view full_name) const;

  const TraceRequest& request_;
  PatchedMap scores_, weights_;
  ScopePath path_;
  std::size_t layer_ = 0;
};

/// Traces one run over whole sequences.
class SequenceTracer final : public NamingTracer {
 public:
  /// For a run through an encoder of `layers` layers with `heads` heads each. `sequences` must
  /// outlive this object.
  SequenceTracer(const TraceRequest& request, const Sequences& sequences, std::size_t layers,
                 std::size_t heads);

  /// Returns the requested tensors of one sequence, in the order of the run. Call it once, before
  /// take_attention.
  std::vector<TracedTensor> take_tensors(std::size_t sequence);
  /// Returns a sequence's attention weights. Call it once, and only if request.attention.
  AttentionMap take_attention(std::size_t sequence);

 protected:
  void keep(std::string name, const CompleteRows& rows) override;
  float* keep_map(std::string name, MapKind kind, const MapPlace& place) override;
  float* keep_attention(const MapPlace& place) override;
  std::size_t position(RowsOf of, std::size_t row) const override {
    return of == RowsOf::tokens ? positions_[row] : of == RowsOf::table ? row : 0;
  }
  std::size_t query_position(std::size_t, std::size_t query) const override { return query; }
  std::size_t key_position(std::size_t, std::size_t key) const override { return key; }

 private:
  // Returns a sequence's tensor of this name. A new one is [rows, columns], filled with zeros.
  TracedTensor& tensor(std::size_t sequence, const std::string& name, const CompleteRows& like);

  const Sequences& sequences_;
  std::vector<std::size_t> positions_;              // of each token, if anything is replaced
  std::vector<AttentionMap> weights_;               // one per sequence, or empty
  std::vector<std::vector<TracedTensor>> tensors_;  // one list per sequence
};

}  // namespace glassformer
