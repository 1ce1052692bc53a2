#include <catch2/catch_test_macros.hpp>
#include <string>

#include "cli/files/manifest.hpp"
#include "cli/files/sha256.hpp"
#include "support/io_fixture.hpp"

namespace glassformer {
namespace {

std::string sha256(std::string_view text) {
  Sha256 hash;
  hash.add(text);
  return hash.finish();
}

// Examples from NIST's validation system for the Secure Hash Standard and from FIPS 180-4.
TEST_CASE("SHA-256 gives NIST's hashes", "[cli]") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256("\xbd") == "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b");
  CHECK(sha256(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("SHA-256 accepts bytes in pieces of any size", "[cli]") {
  const std::string text(200, 'x');
  for (std::size_t size = 1; size < 130; ++size) {
    Sha256 hash;
    for (std::string_view rest = text; !rest.empty();) {
      hash.add(rest.substr(0, size));
      rest.remove_prefix(std::min(size, rest.size()));
    }
    CHECK(hash.finish() == sha256(text));
  }
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
