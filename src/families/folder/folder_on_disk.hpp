#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "families/folder/model_folder.hpp"

namespace glassformer {

/// A model folder in the file system.
class FolderOnDisk final : public ModelFiles {
 public:
  /// Throws `missing_file` if it is not a folder, and `unsupported` if it looks like a name on a
  /// model hub.
  explicit FolderOnDisk(std::filesystem::path path);

  /// Throws for a file over its limit without reading it; see limit_of.
  std::optional<std::string_view> read(std::string_view name) override;
  bool has(std::string_view name) override;

  std::vector<std::string> names() override;

  /// Reads the headers of a folder's weights. If the weights hold a configuration, passes it to
  /// `folder`.
  std::vector<SafetensorsHeader> headers(ModelFolder& folder);
  /// Reads the headers of safetensors files.
  std::vector<SafetensorsHeader> headers(std::span<const std::string> names);

  /// Passes all tensors of these files to the loader, one at a time. The loader must have been
  /// created with their headers.
  void load(std::span<const std::string> names, WeightsLoader& loader) const;

  const std::filesystem::path& path() const { return path_; }

 private:
  SafetensorsHeader container_header(ModelFolder& folder);

  std::filesystem::path path_;
  std::map<std::string, std::string, std::less<>> files_;  // files read so far
  std::map<std::string, std::uint64_t> data_begins_;       // by file whose header was read
};

}  // namespace glassformer
