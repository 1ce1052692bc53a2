#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "run/run.hpp"
#include "support/scalar_reference.hpp"
#include "train/learned_parameters.hpp"

namespace glassformer::test {

/// Runs a layer in floats with a tape and compares its result and its gradients with those of a
/// scalar reference in double precision.
///
///     LayerCheck check;
///     layer.declare(check.parameters(), Bias::present);
///     check.start();
///     const View x = check.input("x", 5, 7), y = check.run().make(5, 3);
///     layer(const_view(x), y, check.run());
///     check.compare(y, [](const Inputs& in) { return linear(in.at("x"), …); });
class LayerCheck {
 public:
  explicit LayerCheck(std::uint64_t seed = 1);

  /// The scope for the layer's parameters.
  ParameterScope parameters(const char* name = "") { return ParameterScope(parameters_, name); }

  /// Gives the declared parameters random values, makes them learned and starts the tape.
  void start();
  /// Starts another pass, with the same parameters and without inputs.
  void start_again();

  /// Returns random numbers in the arena, which the gradients of `compare` are for.
  View input(const std::string& name, std::size_t rows, std::size_t columns);
  View input(const std::string& name, const scalar_reference::Matrix& values);

  View input(const std::string& name) const { return inputs_.at(name); }

  Run& run() { return run_; }
  Tape& tape() { return tape_; }
  ParameterGradients& gradients() { return *gradients_; }

  /// Takes the pass back with random gradients of its result.
  void rewind(const View& result);
  /// Compares the result with that of the reference, takes the pass back, and compares the
  /// gradients of all inputs and parameters: every `every`-th number of each.
  void compare(const View& result, const scalar_reference::Function& function,
               std::size_t every = 1);

  /// Returns the gradient of an input.
  std::vector<float> gradient(const std::string& input);
  /// Returns the values of an input or a parameter.
  const scalar_reference::Matrix& values(const std::string& name) const { return values_.at(name); }
  scalar_reference::Matrix random_matrix(std::size_t rows, std::size_t columns);

 private:
  void compare_gradient(const scalar_reference::Derivatives& expected, const std::string& name,
                        std::span<const float> got);

  SplitMix64 random_;
  std::vector<NamedParameter> parameters_;
  std::unique_ptr<LearnedParameters> learned_;
  std::unique_ptr<ParameterGradients> gradients_;
  scalar_reference::Inputs values_;
  std::map<std::string, View> inputs_;
  std::vector<float> of_result_;
  Session session_;
  Tape tape_{session_.arena};
  Run run_{session_};
};

}  // namespace glassformer::test
