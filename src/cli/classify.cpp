#include <cstdio>
#include <iostream>

#include "cli/commands.hpp"
#include "cli/model_folder.hpp"
#include "pipelines/json.hpp"

namespace glassformer {
namespace {

// The next lines that have arrived, 64 at most: a pipe is answered in batches, a person line by
// line.
std::vector<std::string> read_lines() {
  std::vector<std::string> lines;
  std::string line;
  while (std::getline(std::cin, line)) {
    lines.push_back(std::move(line));
    if (lines.size() == 64 || std::cin.rdbuf()->in_avail() <= 0) break;
  }
  return lines;
}

std::string as_text(const Classification& result, const ModelConfig& config) {
  char score[32];
  std::snprintf(score, sizeof score, "%.6f", static_cast<double>(result.scores[result.label]));
  return config.labels[result.label] + '\t' + score;
}

std::string as_text(const Error& error) { return "error\t" + std::string(to_string(error.code())); }

}  // namespace

Exit run(const ClassifyCommand& command) {
  const auto pipeline = load_classifier(command.model);
  Exit exit = Exit::ok;
  for (auto lines = read_lines(); !lines.empty(); lines = read_lines()) {
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

Exit run(const TokenizeCommand& command) {
  const Tokenizer tokenizer = load_tokenizer(command.model);
  std::string line;
  while (std::getline(std::cin, line)) {
    const char* separator = "";
    for (const Token& token : tokenizer.encode(line)) {
      std::cout << separator << token.id;
      separator = " ";
    }
    std::cout << '\n';
  }
  return Exit::ok;
}

}  // namespace glassformer
