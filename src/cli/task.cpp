#include "cli/commands.hpp"
#include "cli/lines.hpp"
#include "io/json_writer.hpp"
#include "pipelines/load.hpp"

namespace glassformer {
namespace {

constexpr std::size_t lines_at_once = 64;  // a thread

}  // namespace

Exit run(const TaskCommand& command) {
  const auto pipelines = load_several(
      command.threads, [&] { return load_pipeline(command.model, command.task, command.compute); });
  JsonWriter options;
  options.object([&] {
    if (command.attention) options.field("attention", true);
    if (!command.aggregation.empty()) options.field("aggregation", command.aggregation);
  });
  const std::string json = options.take();
  const auto form = command.json ? ResultForm::json : ResultForm::line;
  // Attention weights take more memory than all else: a line's are written before the next's.
  const std::size_t at_once = command.attention ? 1 : lines_at_once;
  return answer_lines(pipelines, {.json = command.json, .at_once = at_once},
                      [&](Pipeline& pipeline, std::span<const std::string_view> texts) {
                        return pipeline.begin(texts, json, form);
                      });
}

}  // namespace glassformer
