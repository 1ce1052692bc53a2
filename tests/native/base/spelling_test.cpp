// Names of options, as the users of each program write them.

#include "base/spelling.hpp"

#include <catch2/catch_test_macros.hpp>

#include "base/error.hpp"
#include "support/error_of.hpp"

namespace glassformer::test {

TEST_CASE("the name of an option has a spelling in each program", "[base]") {
  CHECK(spelled("no_repeat_ngram_size", Spelling::cpp) == ".no_repeat_ngram_size");
  CHECK(spelled("no_repeat_ngram_size", Spelling::flag) == "--no-repeat-ngram-size");
  CHECK(spelled("no_repeat_ngram_size", Spelling::python) == "no_repeat_ngram_size");
  CHECK(spelled("no_repeat_ngram_size", Spelling::script) == "noRepeatNgramSize");
  CHECK(spelled("from", Spelling::python) == "from_");  // a keyword there
  CHECK(spelled("patch[0].value", Spelling::script) == "patch[0].value");
}

TEST_CASE("an error carries the option, and names it and others alike", "[base]") {
  const Error error = error_of([] {
    throw_error(ErrorCode::invalid_option, Field("top_p"),
                {"expected none with {}, got {}", {Field("num_beams"), 3}});
  });
  CHECK(error.field() == "topP");
  CHECK(error.what() == std::string("topP: expected none with numBeams, got 3"));
}

}  // namespace glassformer::test
