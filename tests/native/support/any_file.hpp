#pragma once

#include "base/error.hpp"
#include "families/folder/input_file.hpp"

namespace glassformer::test {

/// The limit of a file that belongs to a test.
inline constexpr FileLimit any_file{"a file of a test", ErrorCode::missing_file, 1 << 30};

}  // namespace glassformer::test
