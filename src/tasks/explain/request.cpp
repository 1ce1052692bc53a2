#include "tasks/explain/request.hpp"

#include <algorithm>
#include <limits>

namespace glassformer {
namespace {

// Visits a request. Throws for an option that it has and that is not allowed.
class OnlyThese {
 public:
  explicit OnlyThese(std::span<const std::string_view> allowed) : allowed_(allowed) {}

  template <class Value>
  void operator()(const char* name, const std::optional<Value>& option, const Option& = {}) const {
    check(name, option.has_value());
  }
  void operator()(const char*, const std::string&) const {}  // the method

 private:
  void check(const char* name, bool given) const {
    if (!given || std::ranges::find(allowed_, name) != allowed_.end()) return;
    refuse_option(name, "unknown field");
  }

  std::span<const std::string_view> allowed_;
};

std::optional<std::int32_t> id_of(const char* option, const std::optional<std::size_t>& number) {
  if (!number) return std::nullopt;
  constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(number_of(option, number, 0, most, 0));
}

}  // namespace

void expect_method(const ExplainRequest& request, std::initializer_list<std::string_view> methods) {
  if (request.method.empty()) refuse_option("method", "missing");
  if (std::ranges::find(methods, request.method) != methods.end()) return;
  std::string list;
  for (const std::string_view name : methods) list.append(list.empty() ? "" : ", ").append(name);
  refuse_option("method", {"expected one of {}, got {}", {list, describe(request.method)}});
}

void expect_only(const ExplainRequest& request, std::initializer_list<std::string_view> options) {
  const OnlyThese check(std::span(options.begin(), options.size()));
  ExplainRequest copy = request;
  fields(check, copy);
}

std::size_t number_of(const char* option, const std::optional<std::size_t>& number,
                      std::size_t least, std::size_t most, std::size_t absent) {
  if (!number) return absent;
  if (*number >= least && *number <= most) return *number;
  refuse_option(option, {"expected a whole number from {} to {}, got {}", {least, most, *number}});
}

void expect_below(const char* option, const char* what, std::size_t number, std::size_t end) {
  if (number < end) return;
  refuse_option(option, {"expected {}, below {}, got {}", {what, end, number}});
}

NextLedgerOptions next_ledger_options(const ExplainRequest& request) {
  return {.token = id_of("token", request.token),
          .against = id_of("against", request.against),
          .effects = request.effects.value_or(false)};
}

}  // namespace glassformer
