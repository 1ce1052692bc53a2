#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace glassformer {

inline constexpr const char* manifest_file = "manifest.json";

/// The contents of manifest.json: { "files": { NAME: { "size", "sha256" } } }.
struct Manifest {
  struct File {
    std::string name;
    std::uint64_t size = 0;
    std::string sha256;  ///< 64 hexadecimal digits
    bool operator==(const File&) const = default;
  };
  std::vector<File> files;
};

/// Parses manifest.json. Throws invalid_manifest.
Manifest parse_manifest(std::string_view json);
std::string to_json(const Manifest& manifest);

/// Computes the manifest of these files in a folder.
Manifest manifest_of(const std::filesystem::path& folder, const std::vector<std::string>& names);

/// Returns whether the folder's file matches its entry in the manifest.
bool agrees(const Manifest& manifest, const std::filesystem::path& folder, const std::string& name);

}  // namespace glassformer
