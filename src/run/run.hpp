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

/// A tensor that a layer has just completed, with a row for each row of the run: `count` rows from
/// the run's row `first` on, `columns` floats each, `stride` floats apart. They may be read, and
/// replaced before anybody reads them.
struct CompleteRows {
  float* data;
  std::size_t first, count, columns, stride;
  std::size_t heads = 0;       ///< a row is [heads, columns / heads]; 0: it is not of heads
  RowsOf of = RowsOf::tokens;  ///< or: a row for each sequence of the run
};

/// What looks at a run's tensors by their names, or replaces them; models/trace.hpp lists the
/// names.
class Tracer {
 public:
  virtual ~Tracer() = default;

  /// Names what follows, up to `leave`, "<scope>." in front of its own name.
  virtual void enter(std::string_view scope) = 0;
  virtual void enter(std::size_t index) = 0;
  virtual void leave() = 0;

  /// Whether the tensor of this name is to be seen.
  virtual bool wants(std::string_view name) const = 0;
  virtual void see(std::string_view name, const CompleteRows& rows) = 0;
  /// Where the scores or weights of a sequence, or of a row of a decoding step, go.
  virtual MapOutput map(MapKind kind, std::size_t index, const MapShape& shape) = 0;
};

/// One row of a decoding step: the rows of the cache that it may attend to, and where the attention
/// weights of all layers go.
struct AttentionRow {
  std::span<const std::uint32_t> keys;
  float* weights = nullptr;  ///< [L, H, keys]; null: not asked for
};

/// Keys and values in a cache, and which of them each row of a decoding step attends to.
struct CachedRows {
  const float* kv = nullptr;                ///< [cached rows, 2 E]: a key and a value side by side
  std::span<const AttentionRow> rows = {};  ///< [R]
  /// What scores get by how far a key is from a row's last one, its own; null: nothing.
  RelativeBias* relative = nullptr;
};

/// What one layer works on in one step of decoding.
struct DecodingStep {
  std::size_t layer;
  /// [R, 2 E]: the step's own rows of self_attn.kv, written by the layer; [R, D] of a recurrent
  /// unit, whose states they are.
  View<2> own_kv;
  CachedRows self_attn, encoder_attn;
};

/// One forward pass, as each layer's call takes it: the room it works in, what its rows are, and
/// who looks on. Rows are whole sequences, or steps of hypotheses that attend to a cache.
class Run {
 public:
  explicit Run(Workspace& room, Tracer* tracer = nullptr) : workspace(room), tracer_(tracer) {}

  Workspace& workspace;
  const Sequences* sequences = nullptr;  ///< of whole sequences
  const DecodingStep* step = nullptr;    ///< of a step of decoding

  /// Until it ends, names have "<scope>." in front.
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

  /// Shows rows that are complete to who wants them.
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
