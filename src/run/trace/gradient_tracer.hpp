#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "run/scope_path.hpp"
#include "run/tape.hpp"
#include "run/trace/patch.hpp"
#include "run/trace/traced_tensor.hpp"
#include "run/trace/tracer.hpp"

namespace glassformer {

/// Collects the gradients of named tensors of a pass over one sequence, or over one source and one
/// target. They are set when the tape is rewound.
class GradientTracer final : public Tracer {
 public:
  /// `patterns`: see TraceRequest::names. `inner` replaces numbers by these patches; it may be
  /// null. What is replaced does not depend on what was computed before it. All must outlive this
  /// object.
  GradientTracer(std::span<const std::string> patterns, Tape& tape, Tracer* inner = nullptr,
                 std::span<const Patch> patches = {});

  void enter(std::string_view scope) override;
  void enter(std::size_t index) override;
  void leave() override;
  bool wants(std::string_view name) const override;
  void done(std::string_view name, const CompleteRows& rows) override;
  void renamed(std::string_view name, const CompleteRows& rows) override;
  MapOutput map(MapKind kind, std::size_t index, const MapShape& shape) override;
  MapOutput gradient_map(MapKind kind, std::size_t index, const MapShape& shape) override;

  /// Returns the gradients, in the order of the pass. Call it once.
  std::vector<TracedTensor> take();

 private:
  bool asks_for(const std::string& name) const;
  void stop_at_patches(const std::string& name, const CompleteRows& rows);
  void record(std::string_view name, const CompleteRows& rows);

  std::span<const std::string> patterns_;
  Tape& tape_;
  Tracer* inner_;
  ScopePath path_;
  std::vector<Patch> zeros_;            // those that replace or remove; replaced values are zeros
  std::deque<TracedTensor> gradients_;  // steps of the tape point to them
};

}  // namespace glassformer
