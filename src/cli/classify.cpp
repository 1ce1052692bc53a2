#include <cstdio>
#include <iostream>

#include "cli/commands.hpp"
#include "cli/lines.hpp"
#include "cli/model_folder.hpp"
#include "pipelines/json.hpp"

namespace glassformer {
namespace {

std::string as_text(const Classification& result, const ModelConfig& config) {
  char score[32];
  std::snprintf(score, sizeof score, "%.6f", static_cast<double>(result.scores[result.label]));
  return config.labels[result.label] + '\t' + score;
}

std::string as_text(const Error& error) { return "error\t" + std::string(to_string(error.code())); }

}  // namespace

Exit run(const ClassifyCommand& command) {
  const auto pipeline = load_classifier(command.model, command.compute);
  Exit exit = Exit::ok;
  for (auto lines = read_lines(64); !lines.empty(); lines = read_lines(64)) {
    const std::vector<std::string_view> texts(lines.begin(), lines.end());
    for (const auto& result : pipeline->classify_batch(texts, command.options)) {
      if (const Error* error = std::get_if<Error>(&result)) {
        exit = Exit::bad_input;
        std::cerr << "glassformer: " << error->what() << '\n';
        std::cout << (command.json ? to_json(*error) : as_text(*error)) << '\n';
      } else {
        const auto& answer = std::get<Classification>(result);
        std::cout << (command.json ? to_json(answer, *pipeline, AttentionData::base64)
                                   : as_text(answer, pipeline->config()))
                  << '\n';
      }
    }
    std::cout.flush();
  }
  return exit;
}

}  // namespace glassformer
