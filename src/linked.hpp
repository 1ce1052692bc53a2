#pragma once

namespace glassformer {

/// Whether results may be text alone: lines, or JSON with tensors in it. The package's binaries
/// leave tensors beside the JSON.
bool links_printing();

}  // namespace glassformer
