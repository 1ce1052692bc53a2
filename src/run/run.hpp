#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "layers/attention/relative_bias.hpp"
#include "run/map_output.hpp"
#include "run/sequences.hpp"
#include "run/workspace.hpp"
#include "tensor/tensor.hpp"

namespace glassformer {

enum class RowsOf { tokens, sequences };

/// A tensor that a layer has just completed, with one row per row of the run: `count` rows from the
/// run's row `first` on, with `columns` floats each, `stride` floats apart. The rows may be read,
/// and may be replaced before other layers read them.
struct CompleteRows {
  float* data;
  std::size_t first, count, columns, stride;
  std::size_t heads = 0;       ///< a row is [heads, columns / heads]; 0: not divided into heads
  RowsOf of = RowsOf::tokens;  ///< or: one row per sequence of the run
};

/// Reads or replaces a run's tensors by their names, which models/model_tensors.hpp lists.
class Tracer {
 public:
  virtual ~Tracer() = default;

  /// Puts "<scope>." in front of all following names, until `leave`.
  virtual void enter(std::string_view scope) = 0;
  virtual void enter(std::size_t index) = 0;
  virtual void leave() = 0;

  /// Returns whether the tensor of this name is to be passed to `see`.
  virtual bool wants(std::string_view name) const = 0;
  virtual void see(std::string_view name, const CompleteRows& rows) = 0;
  /// Returns the buffer for the scores or weights of a sequence, or of a row of a decoding step.
  virtual MapOutput map(MapKind kind, std::size_t index, const MapShape& shape) = 0;
};

/// One row of a decoding step: the rows of the cache that it may attend to, and the buffer for the
/// attention weights of all layers.
struct AttentionRow {
  std::span<const std::uint32_t> keys;
  float* weights = nullptr;  ///< [L, H, keys]; null: not requested
};

/// Keys and values in a cache, and which of them each row of a decoding step attends to.
struct CachedRows {
  const float* kv = nullptr;                ///< [cached rows, 2 E]: each key followed by its value
  std::span<const AttentionRow> rows = {};  ///< [R]
  /// Added to the scores, by the distance between a key and the row's own key, which is its last;
  /// null: nothing.
  RelativeBias* relative = nullptr;
};

/// The inputs of one layer in one step of decoding.
struct DecodingStep {
  std::size_t layer;
  /// [R, 2 E]: the step's own rows of self_attn.kv, which the layer writes. For a recurrent unit
  /// [R, D]: its states.
  View<2> own_kv;
  CachedRows self_attn, encoder_attn;
};

/// One forward pass, as passed to each layer's call: its workspace, its rows and its tracer. Rows
/// are whole sequences, or steps of hypotheses that attend to a cache.
class Run {
 public:
  explicit Run(Workspace& room, Tracer* tracer = nullptr) : workspace(room), tracer_(tracer) {}

  Workspace& workspace;
  const Sequences* sequences = nullptr;  ///< for whole sequences
  const DecodingStep* step = nullptr;    ///< for a step of decoding

  /// Puts "<scope>." in front of all names during its lifetime.
  class Scope {
   public:
    template <class Name>
    Scope(Tracer* tracer, Name name) : tracer_(tracer) {
      if (tracer_) tracer_->enter(name);
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() {
      if (tracer_) tracer_->leave();
    }

   private:
    Tracer* tracer_;
  };
  [[nodiscard]] Scope scope(std::string_view name) const { return Scope(tracer_, name); }
  [[nodiscard]] Scope scope(std::size_t index) const { return Scope(tracer_, index); }

  bool traces(std::string_view name) const { return tracer_ && tracer_->wants(name); }

  /// Passes complete rows to the tracer if it wants them.
  void see(std::string_view name, const CompleteRows& rows) const {
    if (traces(name)) tracer_->see(name, rows);
  }
  void see(std::string_view name, View<2>& x, std::size_t first = 0) const {
    see(name, {.data = x.data(),
               .first = first,
               .count = x.shape(0),
               .columns = x.shape(1),
               .stride = x.shape(1)});
  }

  MapOutput map(MapKind kind, std::size_t index, const MapShape& shape) const {
    return tracer_ ? tracer_->map(kind, index, shape) : MapOutput();
  }

 private:
  Tracer* tracer_;
};

}  // namespace glassformer
