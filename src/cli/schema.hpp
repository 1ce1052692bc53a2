#pragma once

#include <string>

namespace glassformer {

/// Returns the options of all tasks as JSON Schema: {"$defs": {"GenerateOptions": {"properties":
/// {"top_p": …}}}}. Beside the standard's fields, a property may have "absent" (what applies if it
/// is not given), "adds" (it only adds to the result) and "apart" (not an option of the classes of
/// JavaScript and Python). The source of tools/schema.mjs.
std::string options_schema();

}  // namespace glassformer
