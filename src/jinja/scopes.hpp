#pragma once

#include "jinja/syntax_tree.hpp"

namespace glassformer::jinja {

/// Finds out where each variable of a parsed template is, by the rules of jinja2: a loop, a macro
/// and most other statements have variables of their own, which start with the value of the
/// variable around them. A variable that is set anywhere in a scope belongs to it from its
/// beginning.
void bind_variables(Program& program);

}  // namespace glassformer::jinja
