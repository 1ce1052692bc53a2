#pragma once

#include <functional>
#include <string>
#include <vector>

#include "run/trace/named_tracer.hpp"

namespace glassformer {

/// The numbers of a tensor of a run over one text, or over one source and one target: [N, columns].
struct CaughtRows {
  std::vector<float> data = {};
  std::size_t columns = 0;

  std::size_t rows() const { return columns == 0 ? 0 : data.size() / columns; }
};

/// Copies tensors of a run by their full names, and lets a function change them as they are
/// completed.
class StreamCatcher final : public NamedTracer {
 public:
  using Change = std::function<void(const CompleteRows&)>;

  bool wants(std::string_view name) const override { return find(full_name(name)) != nullptr; }
  void done(std::string_view name, const CompleteRows& rows) override;

  /// Copies a tensor. If it changes too, the copy is of the changed numbers.
  void copy(const std::string& name) { entry(name).copies = true; }
  void change(const std::string& name, Change change) { entry(name).change = std::move(change); }

  const CaughtRows& of(const std::string& name) const;

 private:
  struct Entry {
    std::string name;
    bool copies = false;
    CaughtRows caught = {};
    Change change = {};
  };
  const Entry* find(const std::string& name) const;
  // Returns the entry of this name, a new one if there is none.
  Entry& entry(const std::string& name);

  std::vector<Entry> entries_;
};

}  // namespace glassformer
