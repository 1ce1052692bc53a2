#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/files/manifest.hpp"
#include "support/io_fixture.hpp"

namespace glassformer {
namespace {

// A folder of its own for the file of a test.
class Folder {
 public:
  Folder() { std::filesystem::create_directories(path_); }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  /// Returns the hash of a file with this text.
  std::string sha256(std::string_view text) const {
    std::ofstream(path_ / "file", std::ios::binary) << text;
    const Manifest manifest = manifest_of(path_, {"file"});
    CHECK(manifest.files.at(0).size == text.size());
    CHECK(agrees(manifest, path_, "file"));
    return manifest.files.at(0).sha256;
  }

 private:
  std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / ("glassformer-manifest-" + std::to_string(getpid()));
};

// Examples from NIST's validation system for the Secure Hash Standard and from FIPS 180-4.
TEST_CASE("a manifest has NIST's SHA-256 hashes", "[cli]") {
  const Folder folder;
  CHECK(folder.sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(folder.sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(folder.sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(folder.sha256("\xbd") ==
        "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b");
  // Longer than the buffer through which a file is read.
  CHECK(folder.sha256(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("a manifest survives writing and reading", "[cli]") {
  const std::string json =
      "{\n  \"files\": {\n    \"a\": {\n      \"size\": 3,\n      \"sha256\": \"00ff\"\n    }\n"
      "  }\n}\n";
  const Manifest manifest = parse_manifest(json);
  REQUIRE(manifest.files.size() == 1);
  CHECK(manifest.files[0] == Manifest::File{.name = "a", .size = 3, .sha256 = "00ff"});
  CHECK(to_json(manifest) == json);
  CHECK(to_json(Manifest{}) == "{\n  \"files\": {}\n}\n");
  const auto refused = [](std::string_view text, std::string_view message) {
    test::check_error(ErrorCode::invalid_manifest, message, [&] { parse_manifest(text); });
  };
  refused("[]", "manifest.json: expected an object, got []");
  refused(R"({"files": 1})", "manifest.json: files: expected an object, got 1");
  refused(R"({"files": {"a": {"size": -1}}})", "files: a: size: expected a whole number");
  refused(R"({"files": {"a": {"size": 1, "sha256": "", "x": 1}}})", "\"x\": unknown field");
}

}  // namespace
}  // namespace glassformer
