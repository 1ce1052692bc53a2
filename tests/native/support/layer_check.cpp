#include "support/layer_check.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "weights/safetensors.hpp"

namespace glassformer::test {

using scalar_reference::Matrix;

LayerCheck::LayerCheck(std::uint64_t seed) : random_(seed) { run_.record(tape_); }

Matrix LayerCheck::random_matrix(std::size_t rows, std::size_t columns) {
  Matrix matrix(rows, columns);
  for (double& value : matrix.values) value = static_cast<double>(2 * random_.uniform() - 1);
  return matrix;
}

void LayerCheck::start() {
  for (const NamedParameter& parameter : parameters_) {
    const std::size_t rows = parameter.shape.size() == 1 ? 1 : parameter.shape[0];
    const Matrix values = random_matrix(rows, element_count(parameter.shape) / rows);
    parameter.set(std::vector<float>(values.values.begin(), values.values.end()), 0);
    values_[parameter.name] = values;
  }
  learned_ = std::make_unique<LearnedParameters>(parameters_);
  gradients_ = std::make_unique<ParameterGradients>(learned_->make_gradients());
  tape_.start(gradients_.get());
}

void LayerCheck::start_again() {
  inputs_.clear();
  tape_.start(gradients_.get());
}

View LayerCheck::input(const std::string& name, std::size_t rows, std::size_t columns) {
  return input(name, random_matrix(rows, columns));
}

View LayerCheck::input(const std::string& name, const Matrix& values) {
  const View x = run_.make(values.rows, values.columns);
  std::ranges::transform(values.values, x.data(), [](double v) { return static_cast<float>(v); });
  inputs_.insert_or_assign(name, x);
  values_[name] = values;
  return x;
}

void LayerCheck::rewind(const View& result) {
  tape_.turn();
  of_result_.resize(result.size());
  for (float& value : of_result_) value = 2 * random_.uniform() - 1;
  std::ranges::copy(of_result_, tape_.gradient(result.data()));
  tape_.rewind();
}

std::vector<float> LayerCheck::gradient(const std::string& input) {
  const View& x = inputs_.at(input);
  const float* const gradient = tape_.gradient(x.data());
  return {gradient, gradient + x.size()};
}

namespace {

double largest_of(const scalar_reference::Numbers& numbers) {
  double largest = 0;
  for (const double value : numbers) largest = std::max(largest, std::abs(value));
  return largest;
}

// The worst error measured is 1.5e-6 of a tensor's largest gradient: about 25 roundings of 2^-24,
// as a gradient passes through several sums of products whose terms partly cancel. The rule is
// three times that, for machines that round in another order. Where the exact gradient is 0 or
// nearly (the bias of keys), what remains is the rounding of terms around 1: below 4e-7.
double allowed(double largest) { return 5e-6 * largest + 1e-6; }

}  // namespace

void LayerCheck::compare_gradient(const scalar_reference::Derivatives& expected,
                                  const std::string& name, std::span<const float> got) {
  INFO("the gradient of " << name);
  const double largest = largest_of(expected.values);
  // Where this fails, a number is at a kink, and the test needs another seed.
  REQUIRE(expected.disagreement <= 1e-7 * largest + 1e-7);
  double worst = 0;
  for (std::size_t i = 0; i < expected.at.size(); ++i) {
    const double error = std::abs(static_cast<double>(got[expected.at[i]]) - expected.values[i]);
    if (!(error <= worst)) worst = error;
  }
  CHECK(worst <= allowed(largest));
}

void LayerCheck::compare(const View& result, const scalar_reference::Function& function,
                         std::size_t every) {
  const Matrix expected = function(values_);
  REQUIRE(expected.size() == result.size());
  double worst = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double error = std::abs(static_cast<double>(result.data()[i]) - expected.values[i]);
    if (!(error <= worst)) worst = error;
  }
  CHECK(worst <= allowed(largest_of(expected.values)));
  rewind(result);
  const auto check = [&](const std::string& name, std::span<const float> got) {
    const auto derivatives =
        scalar_reference::central_differences(function, values_, name, of_result_, every);
    compare_gradient(derivatives, name, got);
  };
  for (const auto& [name, x] : inputs_) check(name, gradient(name));
  for (const auto& part : learned_->parts()) check(part.name, part.of(*gradients_));
}

}  // namespace glassformer::test
