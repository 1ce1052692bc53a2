#include "pipelines/load.hpp"

#include "models/model.hpp"
#include "pipelines/make_pipeline.hpp"

namespace glassformer {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

}  // namespace

OpenFolder::OpenFolder(const std::filesystem::path& path)
    : files(path),
      folder(files),
      headers(files.headers(folder.weight_files())),
      config(folder.config(headers)) {}

Compute OpenFolder::compute(std::optional<Compute> wanted) const {
  return wanted.value_or(stored_compute(headers.front()));
}

WeightsLoader OpenFolder::load(std::vector<Parameter> parameters) const {
  WeightsLoader loader = folder.loader(headers, std::move(parameters));
  files.load(folder.weight_files(), loader);
  return loader;
}

std::vector<std::string> vocabulary_files_of(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const char* name : tokenizer_files) {
    if (is_there(folder / name)) names.push_back(name);
  }
  if (is_there(folder / "shortlist.bin")) names.push_back("shortlist.bin");
  return names;
}

std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& folder, TokenizerSide side) {
  FolderOnDisk files(folder);
  return read_tokenizer([&](const std::string& name) { return files.read(name); }, side);
}

void load_weights(const std::filesystem::path& folder, std::vector<Parameter> parameters) {
  OpenFolder(folder).load(std::move(parameters));
}

std::unique_ptr<Pipeline> load_pipeline(const std::filesystem::path& folder, Task task,
                                        std::optional<Compute> compute) {
  OpenFolder open(folder);
  auto pipeline = make_pipeline({.config = expect_task(open.config, task),
                                 .tokenizer = open.folder.take_tokenizer(),
                                 .target_tokenizer = open.folder.take_target_tokenizer(),
                                 .compute = open.compute(compute)});
  open.load(pipeline->parameters());
  return pipeline;
}

std::unique_ptr<ClassifyPipeline> load_classifier(const std::filesystem::path& folder,
                                                  std::optional<Compute> compute) {
  OpenFolder open(folder);
  auto pipeline = std::make_unique<ClassifyPipeline>(open.config, open.folder.take_tokenizer(),
                                                     open.compute(compute));
  open.load(pipeline->parameters());
  return pipeline;
}

std::unique_ptr<TranslatePipeline> load_translator(const std::filesystem::path& folder,
                                                   std::optional<Compute> compute,
                                                   bool shortlisted) {
  OpenFolder open(folder);
  std::string file;
  std::optional<std::span<const std::byte>> shortlist;
  if (shortlisted) {
    file = read_file(folder / "shortlist.bin", shortlist_limit);
    shortlist = bytes_of(file);
  }
  auto pipeline = std::make_unique<TranslatePipeline>(open.config, open.folder.take_tokenizer(),
                                                      open.folder.take_target_tokenizer(),
                                                      open.compute(compute), shortlist);
  open.load(pipeline->parameters());
  return pipeline;
}

}  // namespace glassformer
