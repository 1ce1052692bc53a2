#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "models/dictionary/dictionary.hpp"
#include "run/trace/named_tracer.hpp"

namespace glassformer {

/// Copies what dictionaries read and write in a run, and lets a function replace what they write.
class DictionaryTracer final : public NamedTracer {
 public:
  /// The dictionaries must outlive this.
  explicit DictionaryTracer(const DictionarySet& dictionaries)
      : dictionaries_(dictionaries), sites_(dictionaries.size()) {}

  /// Changes rows y [n, D] of dictionary `i` before anything reads them. x [n, D] are the rows
  /// that the dictionary reads.
  using Replace = std::function<void(std::size_t i, const ConstView& x, const CompleteRows& y)>;
  void replace(Replace replace) { replace_ = std::move(replace); }

  bool wants(std::string_view name) const override;
  void done(std::string_view name, const CompleteRows& rows) override;

  /// x [N, D] of dictionary `i`.
  const std::vector<float>& read(std::size_t i) const { return sites_[i].x; }
  /// y [N, D], as the model has computed it.
  const std::vector<float>& written(std::size_t i) const {
    return dictionaries_[i].config().kind == DictionaryKind::sae ? sites_[i].x : sites_[i].y;
  }

 private:
  struct Site {
    std::vector<float> x, y;
  };

  const DictionarySet& dictionaries_;
  std::vector<Site> sites_;
  Replace replace_;
};

}  // namespace glassformer
