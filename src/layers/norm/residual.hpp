#pragma once

#include <memory>
#include <string>

#include "layers/norm/norm.hpp"
#include "run/run.hpp"

namespace glassformer {

/// Where a residual connection has its norm: x + f(norm(x)), which trains without a warm-up (Xiong
/// et al. 2020), or norm(x + f(x)), the order of "Attention Is All You Need".
enum class NormPlacement { pre, post };

/// A residual connection around a sublayer, with its norm.
class Residual {
 public:
  /// `name`: the norm's.
  Residual(std::string name, std::unique_ptr<Norm> norm, NormPlacement placement)
      : name_(std::move(name)), norm_(std::move(norm)), placement_(placement) {}

  /// Declares the norm by its name.
  void declare(const ParameterScope& scope) { norm_->declare(scope.scope(name_)); }

  /// x [N, D] in place. add(x, input): x += f(input); input may be x. Shows the norm's result by
  /// its name and the sum as `residual`, where there is such a name.
  template <class Add>
  void operator()(View<2> x, const Run& run, const char* residual, const Add& add) const {
    if (placement_ == NormPlacement::pre) {
      View<2> normed = rows(run.workspace.normed, 0, x.shape(0));
      (*norm_)(const_view(x), normed);
      run.see(name_, normed);
      add(x, const_view(normed));
      if (residual) run.see(residual, x);
    } else {
      add(x, const_view(x));
      if (residual) run.see(residual, x);
      (*norm_)(const_view(x), x);
      run.see(name_, x);
    }
  }

  const Norm& norm() const { return *norm_; }

 private:
  std::string name_;
  std::unique_ptr<Norm> norm_;
  NormPlacement placement_;
};

}  // namespace glassformer
