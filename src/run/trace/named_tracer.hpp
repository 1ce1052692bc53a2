#pragma once

#include <string>
#include <string_view>

#include "run/scope_path.hpp"
#include "run/trace/tracer.hpp"

namespace glassformer {

/// A tracer that knows tensors by their full names. Leaves scores and weights alone.
class NamedTracer : public Tracer {
 public:
  void enter(std::string_view scope) override { path_.enter(scope); }
  void enter(std::size_t index) override { path_.enter(std::to_string(index)); }
  void leave() override { path_.leave(); }
  MapOutput map(MapKind, std::size_t, const MapShape&) override { return {}; }

 protected:
  std::string full_name(std::string_view name) const { return path_.name(name); }

 private:
  ScopePath path_;
};

}  // namespace glassformer
