#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "jinja/limits.hpp"
#include "jinja/value.hpp"

// Jinja templates with the values of Python, as the library transformers compiles chat templates on
// jinja2 3.1.6: blocks are trimmed, builtin values cannot be changed, and there are the statements
// `break`, `continue` and `generation`, the functions raise_exception and strftime_now, and a
// filter tojson that does not escape HTML.
//
// source → lexer.hpp → parser.hpp → syntax_tree.hpp → scopes.hpp → evaluator.hpp → text

namespace glassformer::jinja {

/// A local time, for strftime_now.
struct DateTime {
  int year = 1970;  ///< 1 to 9999
  int month = 1;
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int microsecond = 0;
};

struct RenderOptions {
  DateTime now;
  Limits limits;
};

struct Program;

/// A compiled template. It can be rendered by several threads at the same time.
class Template {
 public:
  /// Throws `unsupported` with the line if the source is not a valid template, or `too_large` if it
  /// exceeds a limit.
  explicit Template(std::string_view source);
  Template(Template&&) noexcept;
  Template& operator=(Template&&) noexcept;
  ~Template();

  /// Renders the template. `variables` must be a dict with strings as keys.
  ///
  /// Every error names the line of the template. Throws `invalid_option` if the template calls
  /// raise_exception, `too_large` if it exceeds a limit, and `unsupported` for all other errors.
  std::string render(const Value& variables, const RenderOptions& options = {}) const;

 private:
  std::unique_ptr<const Program> program_;
};

}  // namespace glassformer::jinja
