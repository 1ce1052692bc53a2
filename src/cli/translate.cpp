#include <iostream>

#include "cli/commands.hpp"
#include "cli/lines.hpp"
#include "cli/model_folder.hpp"
#include "pipelines/json.hpp"

namespace glassformer {
namespace {

// Enough for batches of sentences of like length.
constexpr std::size_t lines_at_once = 512;

}  // namespace

Exit run(const TranslateCommand& command) {
  const auto pipeline = load_translator(command.model, command.compute);
  pipeline->begin({}, command.options);  // refuses bad options before any line is read
  Exit exit = Exit::ok;
  for (auto lines = read_lines(lines_at_once); !lines.empty(); lines = read_lines(lines_at_once)) {
    const std::vector<std::string_view> texts(lines.begin(), lines.end());
    for (const auto& result : pipeline->translate_batch(texts, command.options)) {
      if (const Error* error = std::get_if<Error>(&result)) {
        // The translation of an empty line is empty.
        if (command.json || error->code() != ErrorCode::empty_input) {
          exit = Exit::bad_input;
          std::cerr << "glassformer: " << error->what() << '\n';
        }
        std::cout << (command.json ? to_json(*error) : "") << '\n';
      } else {
        const auto& translation = std::get<Translation>(result);
        std::cout << (command.json ? to_json(translation, *pipeline, AttentionData::base64)
                                   : translation.text)
                  << '\n';
      }
    }
    std::cout.flush();
  }
  return exit;
}

}  // namespace glassformer
