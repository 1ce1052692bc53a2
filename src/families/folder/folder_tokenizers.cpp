#include "families/folder/folder_tokenizers.hpp"

#include <array>
#include <span>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/json/json.hpp"
#include "base/limits.hpp"
#include "families/config/hub_config.hpp"
#include "families/linked.hpp"
#include "text/hub/tokenizer_files.hpp"

namespace glassformer {
namespace {

// Expects one tokenizer.model, or one for each language.
void expect_sentencepiece(ModelFiles& files) {
  static constexpr std::array shared = {"tokenizer.model"};
  static constexpr std::array separate = {"source.model", "target.model"};
  files.prepare(shared);
  if (files.has(shared[0])) return;
  files.prepare(separate);
  if (files.has(separate[0]) || files.has(separate[1])) return;
  throw_error(ErrorCode::missing_file,
              "tokenizer.model: expected it, or source.model and target.model, got none of them");
}

}  // namespace

// Reads small files before large ones, so that a downloader fetches none of them twice.
FolderTokenizers read_tokenizers(ModelFiles& files, const TokenizerFacts& facts) {
  if (facts.sentencepiece) {
    expect_sentencepiece(files);
  } else {
    files.prepare(files.has("tokenizer.json") ? std::span(tokenizer_files).first(4)
                                              : std::span(tokenizer_files));
  }
  const auto file = [&](std::string_view name) -> std::optional<std::string_view> {
    if (facts.sentencepiece && !name.ends_with(".model")) return std::nullopt;
    const std::optional<std::string_view> bytes = files.read(name);
    if (bytes)
      expect_within({name, tokenizer_limit.code, tokenizer_limit.max_bytes}, bytes->size());
    return bytes;
  };
  TokenizerOptions options{.side = TokenizerSide::source,
                           .usual_class = facts.usual_class,
                           .lower_case = facts.lower_case};
  if (!facts.class_of_merges.empty() && file("merges.txt")) {
    options.usual_class = facts.class_of_merges;
  }
  FolderTokenizers tokenizers;
  tokenizers.source = read_tokenizer(file, options);
  if (facts.two ? *facts.two : has_two_sides(file, options.usual_class)) {
    options.side = TokenizerSide::target;
    options.lower_case = false;
    tokenizers.target = read_tokenizer(file, options);
  }
  return tokenizers;
}

FolderTokenizers read_tokenizers(ModelFiles& files, const FolderFiles& found) {
  const bool two = !found.target.empty();
  const std::array names = {found.source.c_str(), found.target.c_str()};
  files.prepare(std::span(names).first(two ? 2 : 1));
  const auto read = [&](const std::string& name) {
    return read_tokenizer([&](std::string_view file) {
      return file == "tokenizer.model" ? files.read(name) : std::nullopt;
    });
  };
  FolderTokenizers tokenizers;
  tokenizers.source = read(found.source);
  if (two) tokenizers.target = read(found.target);
  return tokenizers;
}

TokenizersAlone read_tokenizers_alone(ModelFiles& files) {
  TokenizersAlone alone;
  FolderTokenizers& tokenizers = alone;
  if (FolderFiles found; const Family* family = find_container(files, found)) {
    tokenizers = read_tokenizers(files, found);
    alone.config.suffix_tokens = {std::string(tokenizers.source->piece(family->container->end_id))};
    return alone;
  }
  files.prepare(std::array{config_limit.name.data(), "tokenizer_config.json", "tokenizer.json"});
  const std::optional<std::string_view> text = files.read(config_limit.name);
  alone.config.tokenizer_template = true;
  TokenizerFacts facts;
  if (text) {
    constexpr JsonSource source{config_limit.code, config_limit.name};
    JsonObject object(parse_json(*text, source), source, {}, HubConfig::most_fields);
    facts.usual_class = usual_tokenizer_class(*text);
    if (object.find("format")) {
      alone.config = parse_tokenizer_fields(object);
      facts.sentencepiece = !alone.config.tokenizer_template;
      facts.class_of_merges = merges_class(alone.config.task);
      if (alone.config.task != Task::translation) facts.two = false;
    }
  }
  tokenizers = read_tokenizers(files, facts);
  return alone;
}

std::string_view merges_class(Task task) {
  return writes(task) ? "GPT2Tokenizer" : "RobertaTokenizer";
}

}  // namespace glassformer
