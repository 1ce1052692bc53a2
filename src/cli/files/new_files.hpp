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

/// A new file, open for writing. On failure, all members throw std::runtime_error with the path.
class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  void write(std::uint64_t at, std::span<const std::byte> bytes);
  /// Waits until the bytes are on the disk.
  void sync();
  /// Finishes writing and closes the file.
  void close();

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path path_;
  int descriptor_;
};

/// A lock on a folder, released by the destructor or when the process ends.
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

/// A file that only one process holds, until the destructor removes it. One that a killed process
/// left is free.
class FileLock {
 public:
  /// Throws std::runtime_error if another process holds it, or if it cannot be written.
  explicit FileLock(std::filesystem::path path);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// Writes several files into a folder, all or nothing. A new folder is written under another name
/// next to its destination, then renamed. In an existing folder, the files are written to a staging
/// folder inside it and renamed one by one. Leftovers of an interrupted run do no harm. If two runs
/// compete, one of them does nothing and reports it.
class NewFiles {
 public:
  /// `names` are the files to write. Throws std::runtime_error, without writing anything, if one of
  /// these names exists already or another run is writing.
  NewFiles(std::filesystem::path folder, std::vector<std::string> names);
  NewFiles(const NewFiles&) = delete;
  NewFiles& operator=(const NewFiles&) = delete;
  /// Removes the written files, unless they were published.
  ~NewFiles();

  /// Returns the path to which the file `name` must be written.
  std::filesystem::path path(const std::string& name) const;
  void write(const std::string& name, std::string_view bytes) const;
  void copy(const std::string& name, const std::filesystem::path& from) const;

  /// Writes manifest.json for these files, which must be written already.
  void write_manifest(const std::vector<std::string>& names) const;

  /// Makes the files appear in the folder. Throws if it was created by another process meanwhile.
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
