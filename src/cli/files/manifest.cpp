#include "cli/files/manifest.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <span>

#include "base/json/json.hpp"
#include "base/json/json_writer.hpp"
#include "families/folder/input_file.hpp"

namespace glassformer {
namespace {

constexpr JsonSource source{manifest_limit.code, manifest_limit.name};

/// The SHA-256 hash of bytes that arrive in pieces, computed by OpenSSL.
class Sha256 {
 public:
  Sha256() { expect(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr)); }

  void add(std::span<const char> bytes) {
    expect(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
  }

  /// Returns the hash of all bytes in hexadecimal digits. Must be the last call.
  std::string finish() {
    std::array<unsigned char, 32> hash;
    expect(EVP_DigestFinal_ex(context_.get(), hash.data(), nullptr));
    std::string digits;
    for (const unsigned char byte : hash) {
      for (const int digit : {byte >> 4, byte & 15}) digits += "0123456789abcdef"[digit];
    }
    return digits;
  }

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };

  static void expect(int success) {
    if (success != 1) throw Error(ErrorCode::internal, "OpenSSL: SHA-256 failed");
  }

  std::unique_ptr<EVP_MD_CTX, Free> context_{EVP_MD_CTX_new()};
};

Manifest::File describe_file(const std::filesystem::path& folder, const std::string& name) {
  const InputFile file(folder / name);
  Sha256 hash;
  std::vector<char> buffer(1 << 16);
  for (std::uint64_t at = 0; at < file.size(); at += buffer.size()) {
    buffer.resize(std::min<std::uint64_t>(buffer.size(), file.size() - at));
    file.read(at, buffer);
    hash.add(buffer);
  }
  return {.name = name, .size = file.size(), .sha256 = hash.finish()};
}

}  // namespace

Manifest parse_manifest(std::string_view json) {
  JsonObject document(parse_json(json, source), source);
  const JsonValue& files = document.require("files");
  if (!files.is_object()) document.fail("files", "an object", files);
  document.finish();
  Manifest manifest;
  for (JsonEntries entry(files); entry.next();) {
    const std::string name = entry.key();
    JsonObject file(entry.value(), source, "files: " + name);
    const std::uint64_t size = file.integer("size", 0, std::numeric_limits<std::uint64_t>::max());
    manifest.files.push_back({.name = name, .size = size, .sha256 = file.string("sha256")});
    file.finish();
  }
  return manifest;
}

std::string to_json(const Manifest& manifest) {
  JsonWriter json(JsonWriter::Layout::lines);
  json.object([&] {
    json.key("files");
    json.object([&] {
      for (const Manifest::File& file : manifest.files) {
        json.key(file.name);
        json.object([&] {
          json.field("size", file.size);
          json.field("sha256", file.sha256);
        });
      }
    });
  });
  return json.take() + "\n";
}

Manifest manifest_of(const std::filesystem::path& folder, const std::vector<std::string>& names) {
  Manifest manifest;
  for (const std::string& name : names) manifest.files.push_back(describe_file(folder, name));
  return manifest;
}

bool agrees(const Manifest& manifest, const std::filesystem::path& folder,
            const std::string& name) {
  const auto found = std::ranges::find(manifest.files, name, &Manifest::File::name);
  return found != manifest.files.end() && *found == describe_file(folder, name);
}

}  // namespace glassformer
