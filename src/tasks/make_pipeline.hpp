#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "kernels/compute.hpp"
#include "tasks/pipeline.hpp"
#include "text/tokenizer.hpp"

namespace glassformer {

/// The parts of a pipeline in addition to its weights.
struct PipelineParts {
  ModelConfig config;
  std::unique_ptr<const Tokenizer> tokenizer;
  std::unique_ptr<const Tokenizer> target_tokenizer;  ///< for translations; null: the same one
  Compute compute = Compute::f32;
  std::optional<std::span<const std::byte>> shortlist = {};  ///< for translations
};

/// Makes the pipeline of a task.
using MakePipeline = std::unique_ptr<Pipeline> (*)(PipelineParts& parts);

/// A task and the function that makes its pipeline.
struct TaskEntry {
  Task task;
  MakePipeline make;
};

/// The tasks that a program is linked with; see src/linked.
extern const std::span<const TaskEntry> linked_tasks;

/// Starts explanations, in a program that is linked with them; otherwise null.
extern std::unique_ptr<Job> (*const begin_linked_explanation)(Pipeline& pipeline,
                                                              const TaskInputs& inputs,
                                                              const TaskOptions& options);

/// The pipeline of the task that the configuration is for. Throws NotLinked, and what its
/// constructor throws.
std::unique_ptr<Pipeline> make_pipeline(PipelineParts parts);

std::unique_ptr<Pipeline> make_classify(PipelineParts& parts);
std::unique_ptr<Pipeline> make_token_classify(PipelineParts& parts);
std::unique_ptr<Pipeline> make_answer(PipelineParts& parts);
std::unique_ptr<Pipeline> make_embed(PipelineParts& parts);
std::unique_ptr<Pipeline> make_translate(PipelineParts& parts);
std::unique_ptr<Pipeline> make_generate(PipelineParts& parts);

}  // namespace glassformer
