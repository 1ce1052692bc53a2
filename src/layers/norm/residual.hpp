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
  /// A norm and its name. The norm may be null.
  struct NamedNorm {
    std::string name;
    std::unique_ptr<Norm> norm = nullptr;
  };

  /// `norm` stands before the sublayer or after the sum, `output_norm` on the sublayer's output.
  Residual(NamedNorm norm, NamedNorm output_norm, NormPlacement placement, bool connected)
      : norm_(std::move(norm)),
        output_norm_(std::move(output_norm)),
        placement_(placement),
        connected_(connected) {}

  /// Declares the norms by their names.
  void declare(const ParameterScope& scope) {
    for (const NamedNorm* named : {&norm_, &output_norm_}) {
      if (named->norm) named->norm->declare(scope.scope(named->name));
    }
  }

  /// Updates x [N, D] in place. add(x, input) does x += f(input); input may be x. Traces the norms'
  /// results by their names, and the sum as `residual`, if that is not null.
  template <class Add>
  void operator()(View x, const Run& run, const char* residual, const Add& add) const {
    const Arena::Scope scope(run.arena());
    end(x, begin(x, run), run, residual, add);
  }

  /// Returns the sublayer's input: the norm's result, the stream itself or, if the stream's values
  /// are still needed after the sublayer has changed them, a copy.
  ConstView begin(View x, const Run& run) const;

  /// Adds the sublayer's output for its input to x.
  template <class Add>
  void end(View x, const ConstView& input, const Run& run, const char* residual,
           const Add& add) const {
    if (output_norm_.norm) {
      const View output = run.make(x.shape(0), x.shape(1));
      set_to_zero({output.data(), output.size()});
      add(output, input);
      add_normed(x, output, run);
    } else {
      add(x, input);
    }
    finish(x, run, residual);
  }

  /// May be null.
  const Norm* norm() const { return norm_.norm.get(); }
  /// The norm on the sublayer's output. May be null.
  const Norm* output_norm() const { return output_norm_.norm.get(); }
  NormPlacement placement() const { return placement_; }

 private:
  void add_normed(View x, View output, const Run& run) const;
  void finish(View x, const Run& run, const char* residual) const;

  NamedNorm norm_, output_norm_;
  NormPlacement placement_;
  bool connected_;
};

}  // namespace glassformer
