#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/run.hpp"
#include "run/trace/named_tracer.hpp"

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
class RowEditor final : public NamedTracer {
 public:
  /// `name`: the full name, such as "encoder.layers.0.fc2".
  RowEditor(std::string name, const Sequences& sequences, std::span<const RowEdit> edits)
      : name_(std::move(name)), sequences_(sequences), edits_(edits) {}

  bool wants(std::string_view name) const override { return full_name(name) == name_; }
  void done(std::string_view name, const CompleteRows& rows) override;

 private:
  std::string name_;
  const Sequences& sequences_;
  std::span<const RowEdit> edits_;
};

}  // namespace glassformer
