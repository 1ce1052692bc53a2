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

/// A model folder of the file system.
class FolderOnDisk final : public ModelFiles {
 public:
  /// Throws `missing_file` if it is no folder, and `unsupported` for what is a name on a model hub.
  explicit FolderOnDisk(std::filesystem::path path);

  /// A file over its limit is refused unread; see limit_of.
  std::optional<std::string_view> read(std::string_view name) override;
  bool has(std::string_view name) override;

  std::vector<std::string> names() override;

  /// The headers of a folder's weights; gives it the configuration that they hold, if they do.
  std::vector<SafetensorsHeader> headers(ModelFolder& folder);
  /// The headers of safetensors files.
  std::vector<SafetensorsHeader> headers(std::span<const std::string> names);

  /// Gives the loader all tensors of these files, whose headers it was made with; one at a time.
  void load(std::span<const std::string> names, WeightsLoader& loader) const;

  const std::filesystem::path& path() const { return path_; }

 private:
  SafetensorsHeader container_header(ModelFolder& folder);

  std::filesystem::path path_;
  std::map<std::string, std::string, std::less<>> files_;  // that were read
  std::map<std::string, std::uint64_t> data_begins_;       // in each file whose header was read
};

}  // namespace glassformer
