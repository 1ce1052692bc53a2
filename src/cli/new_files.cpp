#include "cli/new_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "checkpoints/input_file.hpp"
#include "cli/manifest.hpp"

namespace glassformer {
namespace {

// The list of the files in a staging folder, made when they are about to be renamed.
constexpr const char* journal = "published.json";

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

void OutputFile::close() {
  if (::close(std::exchange(descriptor_, -1)) != 0) fail();
}

void OutputFile::fail() const {
  throw std::runtime_error(path_.string() + ": cannot be written: " + reason_of(errno));
}

NewFiles::NewFiles(std::filesystem::path folder, std::vector<std::string> names)
    : folder_(std::move(folder)),
      staging_(folder_ / ".glassformer-unfinished"),
      names_(std::move(names)) {
  // A run that was interrupted while it renamed its files has published some of them.
  Manifest published;
  if (is_there(staging_ / journal)) {
    published = parse_manifest(read_file(staging_ / journal, manifest_limit));
  }
  for (const std::string& name : names_) {
    if (is_there(folder_ / name) && !agrees(published, folder_, name)) {
      throw std::runtime_error((folder_ / name).string() + ": exists already; nothing was written");
    }
  }
  std::error_code error;
  made_folder_ = std::filesystem::create_directories(folder_, error);
  if (!error) std::filesystem::remove_all(staging_, error);
  if (!error) std::filesystem::create_directory(staging_, error);
  if (error) throw std::runtime_error(folder_.string() + ": cannot be written: " + error.message());
}

NewFiles::~NewFiles() { clear(); }

void NewFiles::clear() noexcept {
  std::error_code ignored;
  std::filesystem::remove_all(staging_, ignored);
  if (made_folder_) std::filesystem::remove(folder_, ignored);  // only if it is empty
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
  write(journal, to_json(manifest_of(staging_, names_)));
  for (const std::string& name : names_) {
    std::error_code error;
    std::filesystem::rename(path(name), folder_ / name, error);
    if (error) {
      throw std::runtime_error((folder_ / name).string() +
                               ": cannot be written: " + error.message());
    }
  }
}

}  // namespace glassformer
