#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace glassformer {

/// A new file, open for writing. Everything throws std::runtime_error with the path if it fails.
class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  void write(std::uint64_t at, std::span<const std::byte> bytes);
  /// Ends writing.
  void close();

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path path_;
  int descriptor_;
};

/// A lock of a folder, which ends with this or with the process.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

  bool locked() const { return locked_; }

 private:
  int descriptor_;
  bool locked_;
};

/// Files that come into a folder together, or not at all. A new folder is written under another
/// name beside it, and renamed when all files are whole. In a folder that exists, the files are
/// written to a folder inside of it and renamed one by one. What is left by a run that was
/// interrupted is not in the way. Of two runs at once, one does nothing and says so.
class NewFiles {
 public:
  /// `names` are those that will be written. Throws std::runtime_error, and writes nothing, if
  /// there is something with such a name already, or another run is writing.
  NewFiles(std::filesystem::path folder, std::vector<std::string> names);
  NewFiles(const NewFiles&) = delete;
  NewFiles& operator=(const NewFiles&) = delete;
  /// Removes what was written, unless it was published.
  ~NewFiles();

  /// Where to write the file of this name.
  std::filesystem::path path(const std::string& name) const { return staging_ / name; }
  void write(const std::string& name, std::string_view bytes) const;
  void copy(const std::string& name, const std::filesystem::path& from) const;

  /// Writes manifest.json, which tells of these files, written before.
  void write_manifest(const std::vector<std::string>& names) const;

  /// Lets the files appear in the folder. Throws if somebody else has made it meanwhile.
  void publish();

 private:
  void stage_beside();
  void stage_inside();
  [[noreturn]] void fail(const std::string& reason) const;

  std::filesystem::path folder_, staging_;
  std::vector<std::string> names_;
  std::unique_ptr<FolderLock> lock_;  // of the staging folder
  bool whole_ = false;                // the staging folder becomes the folder
};

}  // namespace glassformer
