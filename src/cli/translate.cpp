#include "cli/commands.hpp"
#include "cli/lines.hpp"
#include "pipelines/load.hpp"

namespace glassformer {
namespace {

constexpr std::size_t lines_at_once = 512;  // a thread: enough for batches of like length

}  // namespace

Exit run(const TranslateCommand& command) {
  const auto pipelines = load_several(command.threads, [&] {
    return load_translator(command.model, command.compute, command.shortlist);
  });
  const auto form = command.json ? ResultForm::json : ResultForm::line;
  // Attention weights take more memory than all else: a line's are written before the next's.
  const std::size_t at_once = command.options.attention ? 1 : lines_at_once;
  return answer_lines(
      pipelines, {.json = command.json, .at_once = at_once, .error = ErrorLine::empty},
      [&](TranslatePipeline& pipeline, std::span<const std::string_view> texts) {
        return std::make_unique<TranslationJob>(pipeline.begin(texts, command.options, form));
      });
}

}  // namespace glassformer
