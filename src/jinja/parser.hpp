#pragma once

#include <string_view>

#include "jinja/syntax_tree.hpp"

namespace glassformer::jinja {

/// Parses a template, which must be UTF-8, into an empty program. The addresses of its variables
/// are set by bind_variables. Throws `unsupported` with the line for a template that jinja2
/// rejects, and for statements that need other templates. Throws `too_large` if the template
/// exceeds a limit.
void parse(std::string_view source, Program& program);

}  // namespace glassformer::jinja
