// Any text is either parsed as JSON whose every value can be read, or refused with a typed error.
// The same holds for the options of calls.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.hpp"
#include "base/json/json.hpp"
#include "base/strings/utf8.hpp"
#include "tasks/classify/classify.hpp"
#include "tasks/translate/translate.hpp"

using namespace glassformer;

constexpr JsonSource source{ErrorCode::invalid_option, "options"};

// Visits every value; each is within the text and is valid JSON by itself.
static void visit(JsonValue value) {
  if (!is_valid_utf8(describe(value))) std::abort();
  if (value.is_string() && !is_valid_utf8(value.string())) std::abort();
  // Numbers of up to fifteen digits are read exactly.
  const bool exact = value.is_whole() && value.whole() < 1'000'000'000'000'000;
  if (exact && static_cast<double>(value.whole()) != value.number()) std::abort();
  if (!value.is_array() && !value.is_object()) return;
  std::size_t count = 0;
  for (JsonEntries entry(value); entry.next(); ++count) {
    if (value.is_object() && !is_valid_utf8(entry.key())) std::abort();
    if (parse_json(entry.value().text(), source).text() != entry.value().text()) std::abort();
    visit(entry.value());
  }
  if (count != count_entries(value)) std::abort();
}

template <typename Parse>
static void parse_or_refuse(const Parse& parse) {
  try {
    parse();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) std::abort();
  }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  parse_or_refuse([&] { visit(parse_json(text, source)); });
  parse_or_refuse([&] { read_options<ClassifyOptions>(text); });
  parse_or_refuse([&] { read_options<TranslateOptions>(text); });
  return 0;
}
