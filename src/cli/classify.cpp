#include "cli/commands.hpp"
#include "cli/lines.hpp"
#include "tasks/load.hpp"

namespace glassformer {

Exit run(const ClassifyCommand& command) {
  ClassifyOptions options = command.options;
  options.encoder.patch = read_patches(command.patch);
  const auto pipelines = load_several(command.threads, [&] {
    return load_pipeline<ClassifyPipeline>(command.model, {.compute = command.compute});
  });
  const auto form = command.json ? ResultForm::json : ResultForm::line;
  const LineForm lines = command.pairs ? LineForm::pair : LineForm::text;
  constexpr std::string_view hint = "; --window mean and --window max read all of it";
  return answer_lines(pipelines,
                      {.json = command.json,
                       .attention = command.options.encoder.attention,
                       .form = lines,
                       .clipped_hint = hint},
                      [&](ClassifyPipeline& pipeline, std::span<const TextInput> texts) {
                        return pipeline.begin(texts, options, form);
                      });
}

}  // namespace glassformer
