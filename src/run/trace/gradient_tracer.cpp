#include "run/trace/gradient_tracer.hpp"

#include <algorithm>
#include <iterator>

#include "run/trace/apply_patch.hpp"
#include "run/trace/trace.hpp"

namespace glassformer {

GradientTracer::GradientTracer(std::span<const std::string> patterns, Tape& tape, Tracer* inner,
                               std::span<const Patch> patches)
    : patterns_(patterns), tape_(tape), inner_(inner), zeros_(patches.begin(), patches.end()) {
  // What is added has no gradient; what is removed has none in its direction.
  std::erase_if(zeros_, [](const Patch& patch) { return patch.kind == PatchKind::add; });
  for (Patch& patch : zeros_) {
    if (patch.kind == PatchKind::replace) std::ranges::fill(patch.value, 0.0f);
  }
}

void GradientTracer::enter(std::string_view scope) {
  path_.enter(scope);
  if (inner_) inner_->enter(scope);
}

void GradientTracer::enter(std::size_t index) {
  path_.enter(std::to_string(index));
  if (inner_) inner_->enter(index);
}

void GradientTracer::leave() {
  path_.leave();
  if (inner_) inner_->leave();
}

bool GradientTracer::asks_for(const std::string& name) const {
  return matches_any(patterns_, name);
}

bool GradientTracer::wants(std::string_view name) const {
  return (inner_ && inner_->wants(name)) || asks_for(path_.name(name));
}

void GradientTracer::done(std::string_view name, const CompleteRows& rows) {
  if (inner_ && inner_->wants(name)) inner_->done(name, rows);
  stop_at_patches(path_.name(name), rows);
  record(name, rows);
}

// Sets the gradients of replaced or removed numbers to zero, on the way back to what they were
// computed from.
void GradientTracer::stop_at_patches(const std::string& name, const CompleteRows& rows) {
  for (const Patch& zero : zeros_) {
    if (zero.name != name) continue;
    tape_.record([&zero, rows](Tape& tape) {
      CompleteRows gradients = rows;
      for (std::size_t i = 0; i < rows.count; ++i) {
        gradients.data = tape.gradient(rows.data + i * rows.stride) - i * rows.stride;
        apply_to_row(zero, gradients, i, rows.of == RowsOf::sequences ? 0 : rows.first + i);
      }
    });
  }
}

void GradientTracer::renamed(std::string_view name, const CompleteRows& rows) {
  if (inner_ && inner_->wants(name)) inner_->renamed(name, rows);
  record(name, rows);
}

void GradientTracer::record(std::string_view name, const CompleteRows& rows) {
  std::string full = path_.name(name);
  if (!asks_for(full)) return;
  TracedTensor& gradient = gradients_.emplace_back();
  gradient.name = std::move(full);
  if (rows.of != RowsOf::sequences) gradient.shape.push_back(rows.count);
  if (rows.heads > 0) gradient.shape.push_back(rows.heads);
  gradient.shape.push_back(rows.heads > 0 ? rows.columns / rows.heads : rows.columns);
  gradient.data.resize(rows.count * rows.columns);
  tape_.record([&gradient, rows](Tape& tape) {
    for (std::size_t i = 0; i < rows.count; ++i) {
      std::copy_n(tape.gradient(rows.data + i * rows.stride), rows.columns,
                  gradient.data.data() + i * rows.columns);
    }
  });
}

MapOutput GradientTracer::map(MapKind kind, std::size_t index, const MapShape& shape) {
  return inner_ ? inner_->map(kind, index, shape) : MapOutput();
}

MapOutput GradientTracer::gradient_map(MapKind kind, std::size_t, const MapShape& shape) {
  std::string full = path_.name(kind == MapKind::scores ? "scores" : "weights");
  if (!asks_for(full)) return {};
  TracedTensor& gradient = gradients_.emplace_back();
  gradient.name = std::move(full);
  gradient.shape = {shape.heads, shape.queries, shape.keys};
  gradient.data.resize(shape.size());
  return {.data = gradient.data.data(), .shape = shape};
}

std::vector<TracedTensor> GradientTracer::take() {
  return {std::make_move_iterator(gradients_.begin()), std::make_move_iterator(gradients_.end())};
}

}  // namespace glassformer
