#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "run/segments.hpp"
#include "run/session.hpp"
#include "run/tape.hpp"
#include "run/trace/tracer.hpp"
#include "tensor/tensor.hpp"

namespace glassformer {

/// Keys and values of some rows: [rows, E] each, rows `stride` floats apart.
struct KeyValueRows {
  const float* k = nullptr;
  const float* v = nullptr;
  std::size_t stride = 0;
};

struct RowAttention;
class Run;

/// The part of a cache that one layer uses in a step of decoding.
struct LayerCache {
  /// The step's own rows, which the layer fills: [R, 2 E] keys and values side by side; [R, D], its
  /// states, of a recurrent unit.
  View own = view(nullptr, {0, 0});
  const float* rows = nullptr;  ///< all cached rows, those of the step included
  void (*attend)(const RowAttention&, const Run&) = nullptr;  ///< attends to cached rows
};

/// One forward pass, as passed to each layer's call: its workspace, its rows and its tracer. Rows
/// are whole sequences, or steps of hypotheses that attend to a cache.
class Run {
 public:
  explicit Run(Session& session, Tracer* tracer = nullptr) : session_(&session), tracer_(tracer) {}

  Session& session() const { return *session_; }

  /// Returns a tensor [rows, columns] to be written, valid until the end of the caller's
  /// Arena::Scope.
  View make(std::size_t rows, std::size_t columns) const {
    return session_->arena.make(rows, columns);
  }
  Arena& arena() const { return session_->arena; }

  /// Records every step on a tape.
  void record(Tape& tape) { tape_ = &tape; }
  /// Returns the tape, or null if gradients are not needed.
  Tape* tape() const { return make_linked_tape ? tape_ : nullptr; }
  /// Applies dropout to x while a model learns.
  void drop(View x) const {
    if (tape()) tape()->drop(x);
  }

  std::span<const RowSegment> segments = {};  ///< what each row attends to among its own kind
  std::span<const RowSegment> source_segments = {};  ///< and among an encoder's states
  KeyValueRows source_keys = {};                     ///< of the encoder's states, for this layer
  /// The position of each row. Empty: rows have the positions of their segments.
  std::span<const std::size_t> positions = {};
  const Sequences* sequences = nullptr;  ///< of whole sequences
  const LayerCache* cache = nullptr;     ///< of a step of decoding; null: keys are the run's rows
  /// The rows of a table of distances, [n, D], from row `first_distance` on, if this run computes
  /// them. Empty: layers keep what they compute from the table.
  View distances = view(nullptr, {0, 0});
  std::size_t first_distance = 0;

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

  bool traced() const { return tracer_ != nullptr; }
  bool traces(std::string_view name) const { return tracer_ && tracer_->wants(name); }

  /// Reports that a tensor is complete. This is the one place where traces and patches take effect.
  void done(std::string_view name, const CompleteRows& rows) const {
    if (traces(name)) tracer_->done(name, rows);
  }
  void done(std::string_view name, const View& x, std::size_t first = 0) const {
    done(name, complete(x, first));
  }
  /// Gives the tensor that was completed last a second name.
  void rename(std::string_view name, const View& x) const {
    if (traces(name)) tracer_->renamed(name, complete(x, 0));
  }
  MapOutput map(MapKind kind, std::size_t index, const MapShape& shape) const {
    return tracer_ ? tracer_->map(kind, index, shape) : MapOutput();
  }

  /// Returns the buffer for the gradient of a map, if it is requested.
  MapOutput gradient_map(MapKind kind, std::size_t index, const MapShape& shape) const {
    return tracer_ ? tracer_->gradient_map(kind, index, shape) : MapOutput();
  }

 private:
  static CompleteRows complete(const View& x, std::size_t first) {
    return {.data = x.data(),
            .first = first,
            .count = x.shape(0),
            .columns = x.shape(1),
            .stride = x.shape(1)};
  }

  Session* session_;
  Tracer* tracer_;
  Tape* tape_ = nullptr;
};

}  // namespace glassformer
