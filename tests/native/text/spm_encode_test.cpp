#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/text_fixture.hpp"
#include "text/training/unigram_trainer.hpp"

// Runs SentencePiece's own command-line tools, on POSIX systems that have them (Debian's package
// `sentencepiece`).

namespace glassformer {
namespace {

std::string run(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string output;
  std::array<char, 1 << 16> buffer;
  while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), size);
  }
  REQUIRE(pclose(pipe) == 0);
  return output;
}

// Trains a tokenizer on the committed texts and writes its file.
void write_trained_model(const std::filesystem::path& path) {
  const std::vector<std::string> texts = test::committed_texts();
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const std::vector<std::byte> model =
      train_unigram(views, {.vocab_size = 1200,
                            .lower_case = true,
                            .byte_fallback = true,
                            .special_pieces = {{"<pad>", SpecialPiece::Role::padding},
                                               {"<unk>", SpecialPiece::Role::unknown},
                                               {"the", SpecialPiece::Role::symbol}}});
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(model.data()),
             static_cast<std::streamsize>(model.size()));
}

TEST_CASE("ids match the installed spm_encode", "[text]") {
  if (std::system("command -v spm_encode >/dev/null 2>&1") != 0)
    SKIP("spm_encode is not installed");

  std::vector<std::string> texts;
  for (const std::string& text : test::committed_texts()) {
    if (text.find('\n') == text.npos) texts.push_back(text);
  }
  for (const std::string& text : test::random_texts(5000)) texts.push_back(text);
  texts.push_back(test::long_text());

  const std::filesystem::path input =
      std::filesystem::temp_directory_path() /
      ("glassformer-spm-encode-" + std::to_string(std::random_device()()));
  std::ofstream file(input, std::ios::binary);
  for (const std::string& text : texts) file << text << '\n';
  file.close();

  std::vector<std::string> models;
  for (const char* name : test::tokenizer_models) {
    models.push_back(test::tokenizer_folder + name + ".model");
  }
  const std::string shipped = GLASSFORMER_SOURCE_DIR "/weights/sentiment/tokenizer.model";
  if (std::filesystem::exists(shipped)) models.push_back(shipped);
  models.push_back(input.string() + ".model");
  write_trained_model(models.back());
  for (const std::string& model : models) {
    const std::vector<std::string> expected = test::lines_of(
        run("spm_encode --output_format=id --model='" + model + "' < '" + input.string() + "'"));
    REQUIRE(expected.size() == texts.size());
    const SentencePieceTokenizer tokenizer = test::parse_tokenizer(test::read_text(model));
    std::size_t different = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (test::join(test::ids_of(tokenizer.encode(texts[i]))) == expected[i]) continue;
      UNSCOPED_INFO("text " << i << ": " << texts[i].substr(0, 200));
      ++different;
    }
    INFO(model);
    CHECK(different == 0);
  }
  std::filesystem::remove(input);
  std::filesystem::remove(input.string() + ".model");
}

}  // namespace
}  // namespace glassformer
