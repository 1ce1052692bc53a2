#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "jinja/value.hpp"

namespace glassformer::jinja {

class Evaluator;

/// The arguments of a call.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<Value, Value>> named;

  const Value* find(std::string_view name) const;
};

/// A filter, test, method or function.
struct Builtin {
  static constexpr std::size_t max_parameters = 8;

  std::string_view name;
  /// The names of the parameters, separated by spaces. Those that end with "?" are optional; those
  /// that begin with "_" can only be given by position. The first is the value of a filter or the
  /// object of a method. "*" accepts any arguments.
  const char* parameters;
  /// `values` has a value for each parameter, which is missing if it was not given. With "*", it
  /// only has the first.
  Value (*function)(Evaluator& evaluator, Value* values, const Arguments& all);
};

/// Return the builtin with a name, or null.
const Builtin* find_filter(std::string_view name);
const Builtin* find_test(std::string_view name);
const Builtin* find_function(std::string_view name);
/// Returns the method of a type. Its name is empty if the sandbox forbids it.
const Builtin* find_method(Kind kind, std::string_view name);

}  // namespace glassformer::jinja
