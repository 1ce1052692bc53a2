// Any bytes are either a template that renders to UTF-8 or that fails with a typed error. The
// result is the same every time.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/strings/utf8.hpp"
#include "jinja/template.hpp"

using namespace glassformer;

static const jinja::Value& variables() {
  static const std::string json = R"({"n": 7, "f": 2.5, "nothing": null, "list": [3, 1, "a", 2.5],
    "name": "Wörld 😀", "d": {"b": 1, "a": [true, {"x": "y"}]}, "add_generation_prompt": true,
    "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "<b>\n"}],
    "tools": [{"function": {"name": "f", "parameters": {"type": "object"}}}]})";
  static const jinja::Value value =
      jinja::from_json(parse_json(json, {ErrorCode::invalid_option, "variables"}));
  return value;
}

static std::string result_of(std::string_view source) {
  jinja::RenderOptions options;
  options.limits = {.steps = 50'000, .output_bytes = 1 << 20, .value_bytes = 4 << 20};
  try {
    const jinja::Template compiled(source);
    std::string text = compiled.render(variables(), options);
    if (!is_valid_utf8(text)) std::abort();
    return text;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) std::abort();
    return error.what();
  }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  if (result_of(source) != result_of(source)) std::abort();
  return 0;
}
