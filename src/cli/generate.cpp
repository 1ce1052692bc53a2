#include "cli/commands.hpp"
#include "cli/lines.hpp"
#include "tasks/load.hpp"

namespace glassformer {
namespace {

GenerateTask task_of(const GenerateCommand& command) {
  GenerateOptions wanted = command.options;
  wanted.prefix = !command.no_prefix;
  wanted.patch = read_patches(command.patch);
  if (!command.stop.empty()) wanted.stop_strings = command.stop;
  if (!command.bad_words.empty()) wanted.bad_words = command.bad_words;
  if (!command.suppress.empty()) wanted.suppress_tokens = command.suppress;
  if (!command.begin_suppress.empty()) wanted.begin_suppress_tokens = command.begin_suppress;
  if (!command.next) return wanted;
  NextOptions options;
  options.count = *command.next;
  static_cast<TaskPromptOptions&>(options) = wanted;
  static_cast<SampleOptions&>(options) = wanted;
  static_cast<DecoderOptions&>(options) = wanted;
  return options;
}

}  // namespace

Exit run(const GenerateCommand& command) {
  const auto pipelines = load_several(command.threads, [&] {
    return load_pipeline<GeneratePipeline>(command.model, {.compute = command.compute});
  });
  const GenerateTask task = task_of(command);
  const auto form = command.json ? ResultForm::json : ResultForm::line;
  return answer_lines(pipelines,
                      {.json = command.json, .attention = command.options.attention, .at_once = 1},
                      [&](GeneratePipeline& pipeline, std::span<const TextInput> texts) {
                        std::vector<std::string_view> lines;
                        for (const TextInput& text : texts) lines.push_back(text.text);
                        return std::make_unique<GenerationJob>(pipeline.begin(lines, task, form));
                      });
}

}  // namespace glassformer
