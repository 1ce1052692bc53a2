#include <algorithm>
#include <iostream>
#include <iterator>

#include "base/json_writer.hpp"
#include "base/printable.hpp"
#include "cli/commands.hpp"
#include "cli/lines.hpp"
#include "cli/new_files.hpp"
#include "tasks/load.hpp"
#include "weights/safetensors.hpp"

namespace glassformer {
namespace {

std::string options_of(const TraceCommand& command, std::vector<float>& numbers) {
  JsonWriter json;
  json.object([&] {
    json.key("trace");
    json.array(command.names, [&](const std::string& name) { json.value(name); });
    if (!command.task.empty()) json.field("task", command.task);
    if (command.no_prefix) json.field("prefix", false);
    write_patches(read_patches(command.patch), json, numbers);
  });
  return json.take();
}

std::vector<std::string> all_lines() {
  say_who_writes();
  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line);) lines.push_back(std::move(line));
  return lines;
}

// Returns the traced tensors of a result, renamed to "<line>NAME", or to "<line>SENTENCE/NAME" if
// the line has several sentences.
std::vector<TracedTensor> traced(std::vector<TracedTensor> tensors, const std::string& line) {
  static constexpr std::string_view list = "sentences.", prefix = "trace.";
  const bool several = std::ranges::any_of(
      tensors, [](const TracedTensor& tensor) { return tensor.name.starts_with("sentences.1."); });
  std::vector<TracedTensor> found;
  for (TracedTensor& tensor : tensors) {
    std::string_view name = tensor.name;
    std::string place = line;
    if (name.starts_with(list)) {
      const std::size_t dot = name.find('.', list.size());
      if (several) place.append(name.substr(list.size(), dot - list.size())).append("/");
      name.remove_prefix(dot + 1);
    }
    if (!name.starts_with(prefix)) continue;
    tensor.name = place.append(name.substr(prefix.size()));
    found.push_back(std::move(tensor));
  }
  return found;
}

std::uint64_t write(const std::vector<TracedTensor>& tensors, const std::filesystem::path& path) {
  std::vector<NamedTensor> named;
  for (const TracedTensor& tensor : tensors) {
    named.push_back({tensor.name, DType::f32, tensor.shape, std::as_bytes(std::span(tensor.data))});
  }
  const SafetensorsLayout layout = lay_out_safetensors(named);
  OutputFile file(path);
  file.write(0, std::as_bytes(std::span(layout.header)));
  for (std::size_t i = 0; i < named.size(); ++i) file.write(layout.places[i], named[i].bytes);
  file.close();
  return layout.size;
}

Outcome answer(Pipeline& pipeline, const TextInput& text, const TaskOptions& options) {
  const std::unique_ptr<Job> job =
      pipeline.begin(std::span(&text, 1), options, ResultForm::json_and_tensors);
  while (job->step()) {
  }
  return std::move(job->end()[0]);
}

}  // namespace

Exit run(const TraceCommand& command) {
  const std::string name = command.out.filename().string();
  NewFiles files(command.out.has_parent_path() ? command.out.parent_path() : ".", {name});
  const auto pipeline = load_pipeline(command.model, {}, {.compute = command.compute});
  std::vector<float> numbers;
  const std::string json = options_of(command, numbers);
  const TaskOptions options(json, numbers);
  pipeline->begin({}, options, ResultForm::json_and_tensors);  // rejects bad options first
  const bool pairs = command.pairs || pipeline->config().task == Task::question_answering;
  const LineForm form = pairs ? LineForm::pair : LineForm::text;

  const std::vector<std::string> lines = all_lines();
  Exit exit = Exit::ok;
  std::vector<TracedTensor> tensors;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string line = std::to_string(i);
    Outcome outcome;
    try {
      outcome = answer(*pipeline, to_input(lines[i], form), options);
    } catch (const Error& error) {
      outcome = error;
    }
    if (const Error* error = std::get_if<Error>(&outcome)) {
      exit = Exit::bad_input;
      std::cerr << "glassformer: line " << i + 1 << ": " << error->what() << '\n';
      if (command.json) std::cout << to_json(*error) << '\n';
      continue;
    }
    Result& result = std::get<Result>(outcome);
    std::ranges::move(traced(std::move(result.tensors), lines.size() > 1 ? line + "/" : ""),
                      std::back_inserter(tensors));
    if (command.json) std::cout << result.text << '\n';
  }
  if (tensors.empty()) {
    std::cerr << "glassformer: no line has a trace; nothing was written\n";
    return Exit::bad_input;
  }
  const std::uint64_t size = write(tensors, files.path(name));
  files.publish();
  std::cerr << "glassformer: wrote " << tensors.size() << " tensors, " << size << " bytes, to "
            << printable(command.out.string()) << '\n';
  return exit;
}

}  // namespace glassformer
