#include "jinja/template.hpp"

#include <utility>

#include "base/error.hpp"
#include "base/strings/utf8.hpp"
#include "jinja/evaluator.hpp"
#include "jinja/parser.hpp"
#include "jinja/scopes.hpp"
#include "jinja/syntax_tree.hpp"

namespace glassformer::jinja {

Template::Template(std::string_view source) {
  if (source.size() > max_source_bytes) {
    throw_error(ErrorCode::too_large, {"chat_template: expected at most {} bytes, got {}",
                                       {max_source_bytes, source.size()}});
  }
  if (!is_valid_utf8(source)) {
    throw_error(ErrorCode::unsupported, "chat_template: expected UTF-8, got other bytes");
  }
  auto program = std::make_unique<Program>();
  parse(source, *program);
  bind_variables(*program);
  program_ = std::move(program);
}

Template::Template(Template&&) noexcept = default;
Template& Template::operator=(Template&&) noexcept = default;
Template::~Template() = default;

std::string Template::render(const Value& variables, const RenderOptions& options) const {
  if (!variables.is(Kind::dict)) {
    throw_error(ErrorCode::invalid_option, "chat_template: expected a dict of variables");
  }
  return Evaluator(*program_, variables, options).run();
}

}  // namespace glassformer::jinja
