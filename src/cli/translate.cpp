#include <iostream>

#include "cli/commands.hpp"
#include "cli/lines.hpp"
#include "cli/model_folder.hpp"
#include "pipelines/json.hpp"

namespace glassformer {
namespace {

constexpr std::size_t lines_at_once = 512;  // a thread: enough for batches of like length

}  // namespace

Exit run(const TranslateCommand& command) {
  const auto pipelines = load_several(command.threads, [&] {
    return load_translator(command.model, command.compute, command.shortlist);
  });
  pipelines[0]->begin({}, command.options);  // refuses bad options before any line is read
  const auto translate = [&](TranslatePipeline& pipeline, std::span<const std::string_view> texts) {
    return pipeline.translate_batch(texts, command.options);
  };
  // Attention weights take more memory than all else: a line's are written before the next's.
  const std::size_t at_once = command.options.attention ? 1 : lines_at_once;
  Exit exit = Exit::ok;
  answer_lines(pipelines, at_once, translate, [&](const auto& result) {
    if (const Error* error = std::get_if<Error>(&result)) {
      // The translation of an empty line is empty.
      if (command.json || error->code() != ErrorCode::empty_input) {
        exit = Exit::bad_input;
        std::cerr << "glassformer: " << error->what() << '\n';
      }
      std::cout << (command.json ? to_json(*error) : "") << '\n';
    } else {
      const auto& translation = std::get<Translation>(result);
      std::cout << (command.json ? to_json(translation, *pipelines[0], AttentionData::base64)
                                 : translation.text)
                << '\n';
    }
  });
  return exit;
}

}  // namespace glassformer
