#include "text/hub/named_tokens.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace glassformer {
namespace {

constexpr std::array named_roles = {"bos_token", "eos_token", "unk_token", "pad_token",
                                    "mask_token"};

// The tokens that a class has if the files define none, in the order of `named_roles`.
struct ClassTokens {
  std::string_view name;
  std::array<std::string_view, named_roles.size()> tokens;
};

constexpr std::string_view end_of_text = "<|endoftext|>";
// Of decoders, whose templates name them.
constexpr std::array decoder_classes = {
    ClassTokens{"LlamaTokenizer", {"<s>", "</s>", "<unk>"}},
    ClassTokens{"CodeLlamaTokenizer", {"<s>", "</s>", "<unk>"}},
    ClassTokens{"GemmaTokenizer", {"<bos>", "<eos>", "<unk>", "<pad>", "<mask>"}},
    ClassTokens{"Qwen2Tokenizer", {"", end_of_text, end_of_text, end_of_text}},
    ClassTokens{"GPT2Tokenizer", {end_of_text, end_of_text, end_of_text}},
    ClassTokens{"CodeGenTokenizer", {end_of_text, end_of_text, end_of_text}},
    ClassTokens{"GPTNeoXTokenizer", {end_of_text, end_of_text, end_of_text, "<|padding|>"}},
};

}  // namespace

std::vector<std::pair<std::string, std::string>> named_tokens(const TokenizerConfig& config,
                                                              std::string_view usual_class) {
  const std::string_view name =
      config.tokenizer_class().empty() ? usual_class : std::string_view(config.tokenizer_class());
  const auto known = std::ranges::find(decoder_classes, name, &ClassTokens::name);
  std::vector<std::pair<std::string, std::string>> named = config.named_specials();
  for (std::size_t i = 0; known != decoder_classes.end() && i < named_roles.size(); ++i) {
    if (known->tokens[i].empty()) continue;
    // A role that the files define as null has no token.
    const std::optional<AddedToken> token = config.special(named_roles[i], known->tokens[i]);
    const auto same = [&](const auto& entry) { return entry.first == named_roles[i]; };
    if (token && std::ranges::none_of(named, same))
      named.emplace_back(named_roles[i], token->content);
  }
  return named;
}

}  // namespace glassformer
