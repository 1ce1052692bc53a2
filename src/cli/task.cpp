#include "base/json_writer.hpp"
#include "cli/commands.hpp"
#include "cli/lines.hpp"
#include "tasks/load.hpp"

namespace glassformer {

Exit run(const TaskCommand& command) {
  const auto pipelines = load_several(command.threads, [&] {
    return load_pipeline(command.model, std::span(&command.task, 1), {.compute = command.compute});
  });
  const ModelConfig& config = pipelines[0]->config();
  if (!config.unused_head.empty()) {
    std::cerr << "glassformer: warning: " << unused_head_note(config) << '\n';
  }
  JsonWriter options;
  std::vector<float> numbers;
  options.object([&] {
    if (command.attention) options.field("attention", true);
    if (!command.aggregation.empty()) options.field("aggregation", command.aggregation);
    if (!command.window.empty()) options.field("window", command.window);
    if (command.stride) options.field("stride", *command.stride);
    if (command.no_answer) options.field("handleImpossibleAnswer", true);
    if (command.prompt) options.field("prompt", *command.prompt);
    if (command.prompt_name) options.field("promptName", *command.prompt_name);
    write_patches(read_patches(command.patch), options, numbers);
  });
  const std::string json = options.take();
  const auto form = command.json ? ResultForm::json : ResultForm::line;
  const LineForm lines = command.task == Task::question_answering ? LineForm::pair : LineForm::text;
  return answer_lines(pipelines,
                      {.json = command.json, .attention = command.attention, .form = lines},
                      [&](Pipeline& pipeline, std::span<const TextInput> texts) {
                        return pipeline.begin(texts, {json, numbers}, form);
                      });
}

}  // namespace glassformer
