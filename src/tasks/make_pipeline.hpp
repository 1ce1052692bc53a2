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
  std::unique_ptr<const Tokenizer> tokenizer;         ///< null if the model needs none
  std::unique_ptr<const Tokenizer> target_tokenizer;  ///< for translations; null: tokenizer
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

/// Starts explanations. Null in a program that is linked without them.
extern std::unique_ptr<Job> (*const begin_linked_explanation)(Pipeline& pipeline,
                                                              const TaskInputs& inputs,
                                                              const TaskOptions& options);

/// Makes the pipeline for the task of the configuration. Throws NotLinked if the program is linked
/// without it, invalid_tokenizer if the task needs a tokenizer that is missing, and the errors of
/// the pipeline's constructor.
std::unique_ptr<Pipeline> make_pipeline(PipelineParts parts);

std::unique_ptr<Pipeline> make_classify(PipelineParts& parts);
std::unique_ptr<Pipeline> make_token_classify(PipelineParts& parts);
std::unique_ptr<Pipeline> make_answer(PipelineParts& parts);
std::unique_ptr<Pipeline> make_fill(PipelineParts& parts);
std::unique_ptr<Pipeline> make_embed(PipelineParts& parts);
std::unique_ptr<Pipeline> make_translate(PipelineParts& parts);
std::unique_ptr<Pipeline> make_image(PipelineParts& parts);
std::unique_ptr<Pipeline> make_match(PipelineParts& parts);
std::unique_ptr<Pipeline> make_generate(PipelineParts& parts);

/// Gives a pipeline dictionaries; see read_dictionaries. Returns their parameters, which the
/// pipeline keeps.
std::vector<NamedParameter> use_dictionaries(Pipeline& pipeline, std::string_view config,
                                             std::span<const std::byte> weights);

/// Points to use_dictionaries, or is null as above.
extern std::vector<NamedParameter> (*const use_linked_dictionaries)(
    Pipeline& pipeline, std::string_view config, std::span<const std::byte> weights);

}  // namespace glassformer
