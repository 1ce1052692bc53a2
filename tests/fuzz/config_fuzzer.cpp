// Any text is either parsed to a configuration that survives writing and reading, or refused with a
// typed error.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.hpp"
#include "families/config/model_config.hpp"

using namespace glassformer;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const ModelConfig config = parse_config({reinterpret_cast<const char*>(data), size});
    if (parse_config(to_json(config)) != config) std::abort();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) std::abort();
  }
  return 0;
}
