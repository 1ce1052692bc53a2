#pragma once

#include <memory>

#include "tasks/explain/next/next_gradients.hpp"

namespace glassformer {

/// Starts the search for a circuit between a text and its pair, and those of the request. The
/// pipeline and what is asked must outlive the result. Throws `invalid_option` if a pair is missing
/// or has another number of tokens, and the errors of read_to_next.
std::unique_ptr<NextSteps> begin_next_circuit(Pipeline& pipeline, const TextInput& text,
                                              const AskedNext& asked);

}  // namespace glassformer
