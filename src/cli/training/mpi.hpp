#pragma once

#include <memory>

#include "train/processes.hpp"

namespace glassformer {

/// Returns the processes that mpirun started with this one, or this one alone. Throws `unsupported`
/// if there are others but this program was built without MPI.
std::unique_ptr<Processes> join_processes();

}  // namespace glassformer
