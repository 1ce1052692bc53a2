#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>

#include "cli/commands.hpp"
#include "cli/model_folder.hpp"
#include "kernels/kernels.hpp"

namespace glassformer {
namespace {

constexpr std::string_view sample =
    "The first hour is gripping and beautifully shot, and the two leads are a joy to watch, but "
    "the ending drags on so long that even the most patient viewer will look for the door. ";

// A text of `tokens` tokens, or as near below that as whole words come.
std::string text_of(std::size_t tokens, const Tokenizer& tokenizer) {
  std::string words;
  while (tokenizer.encode(words).size() <= tokens) words += sample;
  while (tokenizer.encode(words).size() > tokens && words.find(' ') != std::string::npos) {
    words.resize(words.find_last_of(' '));
  }
  return words;
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Exit run(const BenchCommand& command) {
  using Clock = std::chrono::steady_clock;
  const auto pipeline = load_classifier(command.model);
  const std::string model = std::filesystem::canonical(command.model).filename().string();
  const std::string build = "native-" + std::string(kernels().name);

  if (command.json) std::cout << "[";
  const char* separator = "";
  for (std::size_t length : command.lengths) {
    const std::string text = text_of(length, pipeline->tokenizer());
    const std::size_t tokens = pipeline->classify(text).tokens.size();
    std::vector<double> milliseconds;
    const auto start = Clock::now();
    // A second, and ten calls at least: the median of many short calls outlives a noisy neighbour.
    while (milliseconds.size() < 10 || Clock::now() - start < std::chrono::seconds(1)) {
      const auto begin = Clock::now();
      pipeline->classify(text);
      const std::chrono::duration<double, std::milli> elapsed = Clock::now() - begin;
      milliseconds.push_back(elapsed.count());
    }
    char line[256];
    std::snprintf(line, sizeof line,
                  command.json ? "%s{\"engine\": \"glassformer\", \"build\": \"%s\", \"precision\":"
                                 " \"f32\", \"model\": \"%s\", \"task\": \"classify\", \"tokens\":"
                                 " %zu, \"ms_median\": %.4f}"
                               : "%s%s  f32  %s  classify  %zu tokens  %.3f ms\n",
                  separator, build.c_str(), model.c_str(), tokens, median_of(milliseconds));
    std::cout << line;
    if (command.json) separator = ",\n ";
  }
  if (command.json) std::cout << "]\n";
  return Exit::ok;
}

}  // namespace glassformer
