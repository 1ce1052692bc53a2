#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/run.hpp"
#include "run/scope_path.hpp"

namespace glassformer {

/// A replacement of one row, or of all rows, of a sequence's tensor.
struct RowEdit {
  std::size_t sequence;
  std::optional<std::size_t> token = {};  ///< default: every token
  std::optional<std::size_t> head = {};   ///< for tensors that have heads; default: all heads
  const float* values = nullptr;          ///< [columns], or [columns / heads]; null: zeros
};

/// Replaces rows of one tensor in a run of several sequences, different ones in each; a Patch
/// applies one replacement to all of them. Edits and sequences must outlive this object.
class RowEditor final : public Tracer {
 public:
  /// `name`: the full name, such as "encoder.layers.0.fc2".
  RowEditor(std::string name, const Sequences& sequences, std::span<const RowEdit> edits)
      : name_(std::move(name)), sequences_(sequences), edits_(edits) {}

  void enter(std::string_view scope) override { path_.enter(scope); }
  void enter(std::size_t index) override { path_.enter(std::to_string(index)); }
  void leave() override { path_.leave(); }
  bool wants(std::string_view name) const override { return path_.name(name) == name_; }
  void done(std::string_view name, const CompleteRows& rows) override;
  MapOutput map(MapKind, std::size_t, const MapShape&) override { return {}; }

 private:
  std::string name_;
  const Sequences& sequences_;
  std::span<const RowEdit> edits_;
  ScopePath path_;
};

}  // namespace glassformer
