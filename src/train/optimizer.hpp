#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/fields.hpp"
#include "kernels/pool.hpp"
#include "train/learned_parameters.hpp"

namespace glassformer {

enum class OptimizerKind {
  adamw,  ///< Loshchilov and Hutter 2019
  muon,   ///< Jordan et al. 2024, for the matrices of layers; AdamW for the other parameters
};

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::adamw;
  float decay = 0.01f;  ///< of weights, per step and times the rate
  float beta1 = 0.9f, beta2 = 0.98f, eps = 1e-9f;
  float momentum = 0.95f;  ///< of Muon
  float clip = 1.0f;       ///< the largest norm of all gradients together; larger ones are scaled
};

/// Changes parameters against their gradients.
class Optimizer {
 public:
  /// The parameters and the threads must outlive this.
  Optimizer(LearnedParameters& parameters, const OptimizerOptions& options,
            Pool& pool = Pool::single());

  /// Takes one step. Returns the norm of all gradients before they are clipped. If it is not
  /// finite, nothing changes.
  float step(ParameterGradients& gradients, float rate);

  /// A moving average that must be stored to go on later: "NAME.mean", "NAME.square" or
  /// "NAME.momentum".
  struct State {
    std::string name;
    std::span<float> values;
  };
  std::vector<State> states();
  std::uint64_t steps() const { return steps_; }
  void set_steps(std::uint64_t steps) { steps_ = steps; }

 private:
  struct Moments {
    AlignedBuffer mean, square;  // Muon has only the mean
  };

  bool turns(const LearnedParameters::Part& part) const;
  void adam(const LearnedParameters::Part& part, Moments& moments, std::span<const float> gradient,
            float scale, float rate) const;
  void muon(const LearnedParameters::Part& part, Moments& moments, std::span<const float> gradient,
            float scale, float rate);

  LearnedParameters& parameters_;
  OptimizerOptions options_;
  Pool& pool_;
  std::vector<Moments> moments_;
  std::uint64_t steps_ = 0;
};

template <>
inline constexpr std::array enum_names<OptimizerKind>{"adamw", "muon"};

}  // namespace glassformer
