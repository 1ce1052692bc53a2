#pragma once

#include <memory>
#include <span>
#include <vector>

#include "layers/linear/linear.hpp"
#include "layers/norm/norm.hpp"
#include "models/config.hpp"
#include "weights/loader.hpp"

namespace glassformer {

/// x / max(‖x‖, 1e-12), in place.
void normalize(std::span<float> x);

/// The modules that are applied to a text's pooled vector in order (sentence-transformers' Dense,
/// LayerNorm and Normalize).
class VectorModules {
 public:
  explicit VectorModules(std::span<const VectorModule> modules);

  /// Declares `weight` and `bias` of each module that has them, by its number: "0.weight".
  void declare(const ParameterScope& scope);

  /// Returns the layer of a module of kind `dense`.
  const Linear& dense(std::size_t module) const { return *steps_[module].dense; }

  /// Returns the output of the last module.
  std::vector<float> operator()(std::vector<float> x, Session& session) const;

 private:
  struct Step {
    VectorModule module;
    std::unique_ptr<Linear> dense;
    std::unique_ptr<Norm> norm;
  };
  std::vector<Step> steps_;
};

}  // namespace glassformer
