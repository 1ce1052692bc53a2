#include "tasks/make_pipeline.hpp"

namespace glassformer {

std::unique_ptr<Job> (*const begin_linked_explanation)(Pipeline&, const TaskInputs&,
                                                       const TaskOptions&) = nullptr;

}  // namespace glassformer
