#include "base/error.hpp"

#include <catch2/catch_test_macros.hpp>
#include <set>
#include <string>

#include "support/text_fixture.hpp"

namespace glassformer {
namespace {

TEST_CASE("each error code has a unique name that JavaScript has, too", "[errors]") {
  const std::string types = test::read_text(GLASSFORMER_SOURCE_DIR "/wasm/src/base/errors.ts");
  std::set<std::string> names;
  for (int code = 0; code <= static_cast<int>(ErrorCode::internal); ++code) {
    const std::string name(to_string(static_cast<ErrorCode>(code)));
    INFO(name);
    CHECK(names.insert(name).second);
    CHECK(types.find("| '" + name + "'") != std::string::npos);
  }
}

}  // namespace
}  // namespace glassformer
