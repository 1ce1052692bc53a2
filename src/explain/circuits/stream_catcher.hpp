#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "run/scope_path.hpp"
#include "run/trace/tracer.hpp"

namespace glassformer {

/// The numbers of a tensor of a run over one text, or over one source and one target: [N, columns].
struct CaughtRows {
  std::vector<float> data = {};
  std::size_t columns = 0;

  std::size_t rows() const { return columns == 0 ? 0 : data.size() / columns; }
};

/// Copies tensors of a run by their full names, and lets a function change them as they are
/// completed.
class StreamCatcher final : public Tracer {
 public:
  using Change = std::function<void(const CompleteRows&)>;

  void enter(std::string_view scope) override { path_.enter(scope); }
  void enter(std::size_t index) override { path_.enter(std::to_string(index)); }
  void leave() override { path_.leave(); }
  bool wants(std::string_view name) const override {
    const std::string full = path_.name(name);
    return caught_.contains(full) || changes_.contains(full);
  }
  void done(std::string_view name, const CompleteRows& rows) override;
  MapOutput map(MapKind, std::size_t, const MapShape&) override { return {}; }

  /// Copies a tensor. If it changes too, the copy is of the changed numbers.
  void copy(const std::string& name) { caught_[name]; }
  void change(const std::string& name, Change change) { changes_[name] = std::move(change); }

  const CaughtRows& of(const std::string& name) const {
    const auto found = caught_.find(name);
    if (found == caught_.end() || found->second.data.empty()) {
      throw_error(ErrorCode::internal, {"circuit: no tensor {}", {name}});
    }
    return found->second;
  }

 private:
  ScopePath path_;
  std::map<std::string, CaughtRows, std::less<>> caught_;
  std::map<std::string, Change, std::less<>> changes_;
};

}  // namespace glassformer
