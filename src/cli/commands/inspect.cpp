#include <iomanip>
#include <iostream>

#include "base/json/json.hpp"
#include "base/strings/printable.hpp"
#include "cli/commands.hpp"
#include "cli/files/manifest.hpp"
#include "cli/lines.hpp"
#include "models/model.hpp"
#include "tasks/load.hpp"

namespace glassformer {
namespace {

// Checks the files against the manifest; throws invalid_manifest if they differ.
void check_manifest(const std::filesystem::path& folder) {
  if (!is_there(folder / manifest_file)) {
    std::cout << "no manifest.json\n";
    return;
  }
  const Manifest manifest = parse_manifest(read_file(folder / manifest_file, manifest_limit));
  for (const Manifest::File& file : manifest.files) {
    if (file.name.find('/') == std::string::npos && is_there(folder / file.name) &&
        agrees(manifest, folder, file.name)) {
      continue;
    }
    throw Error(ErrorCode::invalid_manifest,
                "manifest.json: " + describe(file.name) + ": expected a file of " +
                    std::to_string(file.size) + " bytes with SHA-256 " + describe(file.sha256) +
                    ", got another or none");
  }
  std::cout << "manifest.json agrees with " << manifest.files.size() << " files\n";
}

class InspectCommand final : public Command {
 public:
  void declare(CLI::App& app) override { add_model(app, model_); }
  Exit run() override;

 private:
  std::filesystem::path model_;
};

Exit InspectCommand::run() {
  OpenFolder open(model_);
  const Model model = make_model(open.config.architecture, open.compute({}));
  const std::vector<NamedParameter> declared = parameters(model);
  // Loads the whole model, so that all of it has been checked before anything is shown.
  const WeightsLoader loader = open.load(declared);

  std::cout << to_json(open.config) << '\n';
  std::size_t width = 0;
  for (std::size_t i = 0; i < loader.size(); ++i) {
    width = std::max(width, loader.tensor(i).name.size());
  }
  for (std::size_t i = 0; i < loader.size(); ++i) {
    const TensorInfo& tensor = loader.tensor(i);
    std::cout << std::left << std::setw(static_cast<int>(width + 2)) << printable(tensor.name)
              << std::setw(6) << to_string(tensor.dtype) << to_string(tensor.shape)
              << (loader.ignores(i) ? "  ignored" : "") << '\n';
  }
  const std::unique_ptr<Tokenizer> source = open.folder.take_tokenizer();
  const std::unique_ptr<Tokenizer> target = open.folder.take_target_tokenizer();
  const bool translates = open.config.task == Task::translation;
  std::cout << '\n' << loader.size() << " tensors, " << element_count(declared) << " parameters";
  if (source) std::cout << ", " << source->size() << (translates ? " source pieces, " : " pieces");
  if (translates) std::cout << (target ? *target : *source).size() << " target pieces";
  std::cout << '\n';
  if (source && !source->languages().empty()) {
    std::cout << "languages:";
    for (const Language& language : source->languages()) std::cout << ' ' << language.code;
    std::cout << '\n';
  }
  if (!open.config.unused_head.empty()) std::cout << unused_head_note(open.config) << '\n';
  check_manifest(model_);
  return Exit::ok;
}

}  // namespace

std::unique_ptr<Command> make_inspect_command() { return std::make_unique<InspectCommand>(); }

}  // namespace glassformer
