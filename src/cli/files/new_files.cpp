#include "cli/files/new_files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "cli/files/manifest.hpp"
#include "families/folder/input_file.hpp"

namespace glassformer {
namespace {

// The list of files in a staging folder, written just before they are renamed.
constexpr const char* journal = "published.json";
constexpr const char* unfinished = ".glassformer-unfinished";

}  // namespace

OutputFile::OutputFile(std::filesystem::path path) : path_(std::move(path)) {
  descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail();
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void OutputFile::write(std::uint64_t at, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail();
    at += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void OutputFile::sync() {
  if (fsync(descriptor_) != 0) fail();
}

void OutputFile::close() {
  if (::close(std::exchange(descriptor_, -1)) != 0) fail();
}

void OutputFile::fail() const {
  throw std::runtime_error(path_.string() + ": cannot be written: " + reason_of(errno));
}

FolderLock::FolderLock(const std::filesystem::path& folder)
    : descriptor_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  locked_ = descriptor_ >= 0 && flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
  // The owner of the folder may have removed it before we got the lock.
  struct stat held, named;
  locked_ = locked_ && fstat(descriptor_, &held) == 0 && stat(folder.c_str(), &named) == 0 &&
            held.st_ino == named.st_ino;
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FileLock::FileLock(std::filesystem::path path) : path_(std::move(path)) {
  for (struct stat held, named;;) {
    descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) {
      throw std::runtime_error(path_.string() + ": cannot be written: " + reason_of(errno));
    }
    if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      ::close(descriptor_);
      throw std::runtime_error(path_.string() + ": another process holds it; nothing was written");
    }
    // The process before may have removed the file between our two calls.
    if (fstat(descriptor_, &held) == 0 && stat(path_.c_str(), &named) == 0 &&
        held.st_ino == named.st_ino) {
      return;
    }
    ::close(descriptor_);
  }
}

FileLock::~FileLock() {
  unlink(path_.c_str());
  ::close(descriptor_);
}

NewFiles::NewFiles(std::filesystem::path folder, std::vector<std::string> names)
    : folder_(std::move(folder)), names_(std::move(names)) {
  if (!folder_.has_filename()) folder_ = folder_.parent_path();  // "model/"
  if (is_there(folder_)) {
    stage_inside();
  } else {
    stage_beside();
  }
}

void NewFiles::fail(const std::string& reason) const {
  throw std::runtime_error(folder_.string() + ": " + reason);
}

// The folder is new: it gets its final name once all files are written.
void NewFiles::stage_beside() {
  const std::filesystem::path parent = folder_.has_parent_path() ? folder_.parent_path() : ".";
  const std::string prefix = unfinished + ("-" + folder_.filename().string()) + "-";
  std::error_code error;
  std::filesystem::create_directories(parent, error);
  if (error) fail("cannot be written: " + error.message());
  for (const auto& entry : std::filesystem::directory_iterator(parent, error)) {
    if (!entry.path().filename().string().starts_with(prefix)) continue;
    // Left by an interrupted run, if the lock is free.
    if (const FolderLock lock(entry.path()); lock.locked()) {
      std::filesystem::remove_all(entry.path(), error);
    }
  }
  for (int i = 0; !lock_; ++i) {
    staging_ = parent / (prefix + std::to_string(getpid()) + "-" + std::to_string(i));
    error.clear();
    if (!std::filesystem::create_directory(staging_, error) && error) {
      fail("cannot be written: " + error.message());
    }
    lock_ = std::make_unique<FolderLock>(staging_);
    if (!lock_->locked()) lock_.reset();
  }
  whole_ = true;
}

// The folder exists: its files are renamed one by one.
void NewFiles::stage_inside() {
  // A single file, such as a trace, does not wait for others.
  staging_ = folder_ / (unfinished + (names_.size() == 1 ? "-" + names_[0] : std::string()));
  const auto expect_absent = [&](const Manifest& published) {
    for (const std::string& name : names_) {
      if (is_there(folder_ / name) && !agrees(published, folder_, name)) {
        // The other run has just ended, and this run has recreated its staging folder. If the
        // folder is not empty, an interrupted run left it, and it stays.
        if (lock_) rmdir(staging_.c_str());
        throw std::runtime_error((folder_ / name).string() +
                                 ": exists already; nothing was written");
      }
    }
  };
  if (!is_there(staging_)) expect_absent({});  // leaves no trace in a refused folder
  std::error_code error;
  std::filesystem::create_directory(staging_, error);
  if (error) fail("cannot be written: " + error.message());
  lock_ = std::make_unique<FolderLock>(staging_);
  if (!lock_->locked()) {
    lock_.reset();
    fail("another run is writing into it; nothing was written");
  }
  // A run that was interrupted while renaming has already published some of its files.
  Manifest published;
  if (is_there(staging_ / journal)) {
    published = parse_manifest(read_file(staging_ / journal, manifest_limit));
  }
  expect_absent(published);
  for (const auto& entry : std::filesystem::directory_iterator(staging_, error)) {
    std::filesystem::remove_all(entry.path(), error);
  }
  if (error) fail("cannot be written: " + error.message());
}

NewFiles::~NewFiles() {
  std::error_code ignored;
  if (lock_) std::filesystem::remove_all(staging_, ignored);
}

std::filesystem::path NewFiles::path(const std::string& name) const {
  std::filesystem::path path = staging_ / name;
  std::error_code error;  // reported when the file is opened
  std::filesystem::create_directories(path.parent_path(), error);
  return path;
}

void NewFiles::write(const std::string& name, std::string_view bytes) const {
  OutputFile file(path(name));
  file.write(0, std::as_bytes(std::span(bytes)));
  file.close();
}

void NewFiles::copy(const std::string& name, const std::filesystem::path& from) const {
  const InputFile source(from);
  OutputFile target(path(name));
  std::vector<char> buffer(1 << 16);
  for (std::uint64_t at = 0; at < source.size(); at += buffer.size()) {
    buffer.resize(std::min<std::uint64_t>(buffer.size(), source.size() - at));
    source.read(at, buffer);
    target.write(at, std::as_bytes(std::span(buffer)));
  }
  target.close();
}

void NewFiles::write_manifest(const std::vector<std::string>& names) const {
  write(manifest_file, to_json(manifest_of(staging_, names)));
}

void NewFiles::publish() {
  std::error_code error;
  if (whole_) {
    std::filesystem::rename(staging_, folder_, error);
    if (error == std::errc::directory_not_empty || error == std::errc::file_exists ||
        error == std::errc::not_a_directory) {
      fail("exists already; nothing was written");
    }
    if (error) fail("cannot be written: " + error.message());
    lock_.reset();
    return;
  }
  write(journal, to_json(manifest_of(staging_, names_)));
  for (const std::string& name : names_) {
    const std::filesystem::path target = folder_ / name;
    std::filesystem::create_directories(target.parent_path(), error);
    std::filesystem::rename(path(name), target, error);
    if (error) {
      throw std::runtime_error((folder_ / name).string() +
                               ": cannot be written: " + error.message());
    }
  }
}

}  // namespace glassformer
