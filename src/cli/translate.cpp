#include "cli/commands.hpp"
#include "cli/lines.hpp"
#include "tasks/load.hpp"

namespace glassformer {
namespace {

constexpr std::size_t lines_at_once = 512;  // per thread: enough for batches of similar lengths

}  // namespace

Exit run(const TranslateCommand& command) {
  TranslateOptions options = command.options;
  options.patch = read_patches(command.patch);
  const auto pipelines = load_several(command.threads, [&] {
    return load_pipeline<TranslatePipeline>(
        command.model, {.compute = command.compute, .shortlist = command.shortlist});
  });
  const auto form = command.json ? ResultForm::json : ResultForm::line;
  return answer_lines(
      pipelines,
      {.json = command.json,
       .attention = command.options.attention,
       .at_once = lines_at_once,
       .error = ErrorLine::empty},
      [&](TranslatePipeline& pipeline, std::span<const TextInput> texts) {
        std::vector<std::string_view> lines;
        for (const TextInput& text : texts) lines.push_back(text.text);
        return std::make_unique<TranslationJob>(pipeline.begin(lines, options, form));
      });
}

}  // namespace glassformer
