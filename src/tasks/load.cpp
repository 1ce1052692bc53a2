#include "tasks/load.hpp"

#include <span>
#include <utility>

#include "families/config/generation_config.hpp"
#include "families/family.hpp"
#include "families/folder/folder_tokenizers.hpp"
#include "kernels/pool.hpp"
#include "models/model.hpp"
#include "tasks/make_pipeline.hpp"
#include "tasks/reading/token_checks.hpp"
#include "text/hub/tokenizer_files.hpp"

namespace glassformer {
namespace {

// Throws the error that a file is missing with the folder's path.
[[noreturn]] void rethrow(const Error& error, const std::filesystem::path& folder) {
  const std::string what = error.what();
  if (error.code() != ErrorCode::missing_file || what.starts_with(folder.string())) throw;
  throw Error(error.code(), folder.string() + ": " + what);
}

}  // namespace

OpenFolder::OpenFolder(const std::filesystem::path& path, std::span<const Task> wanted) try
    : files(path),
      folder(files),
      headers(files.headers(folder)),
      config(folder.config(headers, wanted)) {
  if (const Tokenizer* tokenizer = folder.tokenizer()) {
    check_special_tokens(config, *tokenizer, folder.target_tokenizer());
  }
} catch (const Error& error) {
  rethrow(error, path);
}

Compute OpenFolder::compute(std::optional<Compute> wanted) const {
  return wanted.value_or(stored_compute(headers.front()));
}

WeightsLoader OpenFolder::load(std::vector<NamedParameter> parameters) const {
  WeightsLoader loader = folder.loader(headers, std::move(parameters));
  files.load(folder.weight_files(), loader);
  return loader;
}

std::vector<std::string> vocabulary_files_of(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const char* name : tokenizer_files) {
    if (is_there(folder / name)) names.push_back(name);
  }
  for (const char* name : {"shortlist.bin", generation_config_name, chat_template_name}) {
    if (is_there(folder / name)) names.push_back(name);
  }
  for (const std::string& name : FolderOnDisk(folder).names()) {
    if (name.starts_with(std::string(more_chat_templates) + "/")) names.push_back(name);
  }
  return names;
}

std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& folder) {
  FolderOnDisk files(folder);
  return read_tokenizers_alone(files).source;
}

void load_weights(const std::filesystem::path& folder, std::vector<NamedParameter> parameters) {
  OpenFolder(folder).load(std::move(parameters));
}

std::unique_ptr<Pipeline> load_pipeline(const std::filesystem::path& folder,
                                        std::span<const Task> tasks, const LoadOptions& options) {
  OpenFolder open(folder, tasks);
  PipelineParts parts = {.config = tasks.empty() ? open.config : expect_task(open.config, tasks),
                         .tokenizer = open.folder.take_tokenizer(),
                         .target_tokenizer = open.folder.take_target_tokenizer(),
                         .compute = open.compute(options.compute)};
  std::string shortlist;
  if (options.shortlist) {
    shortlist = read_file(folder / open.folder.shortlist(), shortlist_limit);
    parts.shortlist = std::as_bytes(std::span(shortlist));
  }
  auto pipeline = make_pipeline(std::move(parts));
  open.load(pipeline->parameters());
  pipeline->set_threads(options.threads > 0 ? options.threads : machine_threads());
  return pipeline;
}

void load_dictionaries(const std::filesystem::path& folder, Pipeline& pipeline) {
  constexpr FileLimit weights_limit = {"model.safetensors", ErrorCode::too_large,
                                       std::uint64_t{4} << 30};
  const std::string config = read_file(folder / "config.json", config_limit);
  const std::string weights = read_file(folder / "model.safetensors", weights_limit);
  use_dictionaries(pipeline, config, std::as_bytes(std::span(weights)));
}

}  // namespace glassformer
