#include "tasks/explain/request.hpp"

namespace glassformer {
namespace {

// Visits a request. Throws for an option that it has and that its method lacks.
class OnlyIts {
 public:
  OnlyIts(const ExplanationMethod& method, Answered answer) : method_(method), answer_(answer) {}

  template <class Value>
  [[gnu::always_inline]] void operator()(const char* name, const std::optional<Value>& option,
                                         const Option& = {}) const {
    check(name, option.has_value());
  }
  void operator()(const char*, const std::string&, const Option&) const {}  // the method

 private:
  void check(const char* name, bool given) const {
    if (given && !method_.has(answer_, name)) refuse_option(name, "unknown field");
  }

  const ExplanationMethod& method_;
  Answered answer_;
};

std::optional<std::int32_t> id_of(const std::optional<std::size_t>& number) {
  if (!number) return std::nullopt;
  return static_cast<std::int32_t>(*number);  // within its range
}

}  // namespace

void check_request(const ExplainRequest& request, Answered answer, bool gradients) {
  const OnlyIts check(expect_method(request.method, answer, gradients), answer);
  ExplainRequest copy = request;
  fields(check, copy);
  check_ranges(request);
}

void expect_below(const char* option, const char* what, std::size_t number, std::size_t end) {
  if (number < end) return;
  refuse_option(option, {"expected {}, below {}, got {}", {what, end, number}});
}

NextAttributionOptions next_attribution_options(const ExplainRequest& request) {
  return {.token = id_of(request.token),
          .against = id_of(request.against),
          .effects = request.effects.value_or(false)};
}

}  // namespace glassformer
