#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/limits.hpp"

namespace glassformer {

/// A regular file, open for reading.
class InputFile {
 public:
  /// Throws missing_file if it cannot be opened, and `code` if it is a folder, a pipe or similar.
  explicit InputFile(std::filesystem::path path, ErrorCode code = ErrorCode::missing_file);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  std::uint64_t size() const { return size_; }
  /// Fills `bytes` from offset `at`. Throws `code` if the file is too short.
  void read(std::uint64_t at, std::span<char> bytes) const;

 private:
  std::filesystem::path path_;
  ErrorCode code_;
  int descriptor_;
  std::uint64_t size_;
};

/// Returns the system's message for an error number.
inline std::string reason_of(int error) { return std::generic_category().message(error); }

inline std::string kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

inline InputFile::InputFile(std::filesystem::path path, ErrorCode code)
    : path_(std::move(path)), code_(code) {
  // Without O_NONBLOCK, opening a pipe would block until it has a writer.
  descriptor_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status {};
  if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) {
    const std::string why = reason_of(errno);
    if (descriptor_ >= 0) ::close(descriptor_);
    throw Error(ErrorCode::missing_file, path_.string() + ": cannot be read: " + why);
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    throw Error(code_, path_.string() + ": cannot be read: expected a file, got " +
                           kind_of(status.st_mode));
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

inline InputFile::~InputFile() { ::close(descriptor_); }

inline void InputFile::read(std::uint64_t at, std::span<char> bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      throw Error(ErrorCode::missing_file,
                  path_.string() + ": cannot be read: " + reason_of(errno));
    }
    if (count == 0) {
      throw Error(code_, path_.string() + ": expected " + std::to_string(bytes.size()) +
                             " bytes more, got the end of the file");
    }
    at += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

/// Reads a whole file of this kind. Throws as InputFile does, and limit.code if it is over the
/// limit.
inline std::string read_file(const std::filesystem::path& path, const FileLimit& limit) {
  const InputFile file(path, limit.code);
  expect_within(limit, file.size());
  std::string bytes(file.size(), '\0');
  file.read(0, bytes);
  return bytes;
}

/// Returns whether the folder has an entry with this name, even a broken link.
inline bool is_there(const std::filesystem::path& path) {
  std::error_code error;  // on an error, opening the file reports why
  return std::filesystem::exists(std::filesystem::symlink_status(path, error));
}

}  // namespace glassformer
