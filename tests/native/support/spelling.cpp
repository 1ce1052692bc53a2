// The tests write options as JavaScript does, because the goldens do.
#include "base/spelling.hpp"

namespace glassformer::test {
namespace {

[[maybe_unused]] const bool chosen = (set_spelling(Spelling::script), true);

}  // namespace
}  // namespace glassformer::test
