#include <cstdio>
#include <iostream>

#include "cli/commands.hpp"
#include "cli/lines.hpp"
#include "cli/model_folder.hpp"
#include "pipelines/json.hpp"

namespace glassformer {
namespace {

constexpr std::size_t lines_at_once = 64;  // a thread

std::string as_text(const Classification& result, const ModelConfig& config) {
  char score[32];
  std::snprintf(score, sizeof score, "%.6f", static_cast<double>(result.scores[result.label]));
  return config.labels[result.label] + '\t' + score;
}

std::string as_text(const Error& error) { return "error\t" + std::string(to_string(error.code())); }

}  // namespace

Exit run(const ClassifyCommand& command) {
  const auto pipelines = load_several(
      command.threads, [&] { return load_classifier(command.model, command.compute); });
  const auto classify = [&](ClassifyPipeline& pipeline, std::span<const std::string_view> texts) {
    return pipeline.classify_batch(texts, command.options);
  };
  // Attention weights take more memory than all else: a line's are written before the next's.
  const std::size_t at_once = command.options.attention ? 1 : lines_at_once;
  Exit exit = Exit::ok;
  answer_lines(pipelines, at_once, classify, [&](const auto& result) {
    if (const Error* error = std::get_if<Error>(&result)) {
      exit = Exit::bad_input;
      std::cerr << "glassformer: " << error->what() << '\n';
      std::cout << (command.json ? to_json(*error) : as_text(*error)) << '\n';
    } else {
      const auto& answer = std::get<Classification>(result);
      std::cout << (command.json ? to_json(answer, *pipelines[0], AttentionData::base64)
                                 : as_text(answer, pipelines[0]->config()))
                << '\n';
    }
  });
  return exit;
}

}  // namespace glassformer
