#include "run/trace/step_tracer.hpp"

namespace glassformer {

void RowRecorder::keep(std::string name, const CompleteRows& rows, std::size_t base,
                       std::size_t total) {
  auto known = std::ranges::find(all_, name, &TracedRows::name);
  if (known == all_.end()) {
    all_.push_back({std::move(name), rows.heads, rows.columns, {}});
    known = all_.end() - 1;
  }
  known->data.resize(checked_product("a trace", {total, rows.columns}));
  for (std::size_t i = 0; i < rows.count; ++i) {
    std::copy_n(rows.data + i * rows.stride, rows.columns,
                known->data.data() + (base + rows.first + i) * rows.columns);
  }
}

float* StepTracer::keep_map(std::string name, MapKind kind, const MapPlace& place) {
  std::vector<TracedMaps>& maps = *record_.maps;
  auto known = std::ranges::find(maps, name, &TracedMaps::name);
  if (known == maps.end()) {
    maps.push_back({std::move(name), kind, reads_sources(), {}, {}});
    known = maps.end() - 1;
  }
  const std::size_t start = known->data.size();
  known->starts.push_back(start);
  known->data.resize(start + place.shape.size(), unseen(kind));
  return known->data.data() + start;
}

}  // namespace glassformer
