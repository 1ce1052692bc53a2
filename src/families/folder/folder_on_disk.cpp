#include "families/folder/folder_on_disk.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/limits.hpp"
#include "families/folder/input_file.hpp"
#include "weights/tensor_container.hpp"

namespace glassformer {

FolderOnDisk::FolderOnDisk(std::filesystem::path path) : path_(std::move(path)) {
  if (path_.string().starts_with("hf:")) {
    throw Error(ErrorCode::unsupported,
                path_.string() +
                    ": expected a folder; nothing is downloaded here: fetch the files of the "
                    "repository first (git clone, or its web page), and give their folder");
  }
  if (!std::filesystem::is_directory(path_)) {
    throw Error(ErrorCode::missing_file, path_.string() + ": expected a model folder, got none");
  }
}

std::optional<std::string_view> FolderOnDisk::read(std::string_view name) {
  const auto known = files_.find(name);
  if (known != files_.end()) return known->second;
  if (!has(name)) return std::nullopt;
  return files_.emplace(name, read_file(path_ / name, limit_of(name))).first->second;
}

bool FolderOnDisk::has(std::string_view name) { return is_there(path_ / name); }

std::vector<std::string> FolderOnDisk::names() {
  std::vector<std::string> names;
  std::error_code error;  // if the folder cannot be listed, opening a file reports why
  for (const auto& entry : std::filesystem::directory_iterator(path_, error)) {
    names.push_back(entry.path().filename().string());
  }
  const std::filesystem::path templates = path_ / more_chat_templates;
  for (const auto& entry : std::filesystem::directory_iterator(templates, error)) {
    names.push_back((more_chat_templates / entry.path().filename()).string());
  }
  std::ranges::sort(names);
  return names;
}

std::vector<SafetensorsHeader> FolderOnDisk::headers(ModelFolder& folder) {
  if (!folder.has_container()) return headers(folder.weight_files());
  std::vector<SafetensorsHeader> headers;
  headers.push_back(container_header(folder));
  return headers;
}

SafetensorsHeader FolderOnDisk::container_header(ModelFolder& folder) {
  const std::string& name = folder.weight_files()[0];
  const InputFile file(path_ / name, ErrorCode::invalid_weights);
  std::vector<char> start;
  for (std::uint64_t size;
       size = TensorContainer::header_size(std::as_bytes(std::span(start))), size > start.size();) {
    const std::size_t known = start.size();
    if (size > file.size()) size = file.size();
    start.resize(size);
    file.read(known, std::span(start).subspan(known));
    if (known == start.size()) break;  // parse reports the missing bytes
  }
  TensorContainer container =
      TensorContainer::parse(std::as_bytes(std::span(start)), file.size() - start.size());
  data_begins_[name] = start.size();
  const TensorInfo& config = container.config;
  std::string yaml(config.end - config.begin, '\0');
  file.read(start.size() + config.begin, yaml);
  folder.take_config(yaml);
  return std::move(container.header);
}

std::vector<SafetensorsHeader> FolderOnDisk::headers(std::span<const std::string> names) {
  std::vector<SafetensorsHeader> headers;
  for (const std::string& name : names) {
    const std::filesystem::path path = path_ / name;
    const InputFile file(path, ErrorCode::invalid_safetensors);
    std::array<char, 8> prefix;
    file.read(0, prefix);
    const std::uint64_t header_size = safetensors_header_size(std::as_bytes(std::span(prefix)));
    const std::uint64_t rest = file.size() - prefix.size();
    if (header_size > rest) {
      throw Error(ErrorCode::invalid_safetensors,
                  path.string() + ": expected a header of " + std::to_string(header_size) +
                      " bytes, got a file of " + std::to_string(file.size()));
    }
    std::string header(header_size, '\0');
    file.read(prefix.size(), header);
    headers.push_back(SafetensorsHeader::parse(header, rest - header_size, name));
    data_begins_[name] = prefix.size() + header_size;
  }
  return headers;
}

void FolderOnDisk::load(std::span<const std::string> names, WeightsLoader& loader) const {
  std::vector<char> staging(loader.staging_bytes());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const InputFile file(path_ / names[i], ErrorCode::invalid_safetensors);
    const std::uint64_t data_begin = data_begins_.at(names[i]);
    for (std::size_t t = loader.starts()[i]; t < loader.starts()[i + 1]; ++t) {
      if (loader.ignores(t)) continue;
      const TensorInfo& tensor = loader.tensor(t);
      const std::size_t piece = loader.piece_bytes(t);
      for (std::uint64_t at = tensor.begin; at < tensor.end; at += piece) {
        const std::span bytes =
            std::span(staging).first(std::min<std::uint64_t>(piece, tensor.end - at));
        file.read(data_begin + at, bytes);
        loader.load(t, std::as_bytes(bytes));
      }
    }
  }
  loader.finish();
}

}  // namespace glassformer
