#pragma once

#include <memory>
#include <string>

#include "layers/elementwise/elementwise.hpp"
#include "layers/norm/norm.hpp"
#include "run/run.hpp"

namespace glassformer {

/// A residual connection around a sublayer, with its norm. Without a norm, the sublayer reads the
/// stream directly. An experiment switches the connection off: the sublayer's output then replaces
/// its input.
class Residual {
 public:
  /// `name` is the norm's name. `norm` may be null.
  Residual(std::string name, std::unique_ptr<Norm> norm, NormPlacement placement, bool connected)
      : name_(std::move(name)),
        norm_(std::move(norm)),
        placement_(placement),
        connected_(connected) {}

  /// Declares the norm by its name.
  void declare(const ParameterScope& scope) {
    if (norm_) norm_->declare(scope.scope(name_));
  }

  /// Updates x [N, D] in place. add(x, input) does x += f(input); input may be x. Traces the norm's
  /// result by its name, and the sum as `residual`, if that is not null.
  template <class Add>
  void operator()(View x, const Run& run, const char* residual, const Add& add) const {
    const Arena::Scope scope(run.arena());
    add(x, begin(x, run));
    end(x, run, residual);
  }

  /// May be null.
  const Norm* norm() const { return norm_.get(); }
  NormPlacement placement() const { return placement_; }

 private:
  // Returns the sublayer's input: the norm's result, the stream itself or, if the stream's values
  // are still needed after the sublayer has changed them, a copy.
  ConstView begin(View x, const Run& run) const;
  void end(View x, const Run& run, const char* residual) const;

  std::string name_;
  std::unique_ptr<Norm> norm_;
  NormPlacement placement_;
  bool connected_;
};

}  // namespace glassformer
