#include "glassformer/text_tokenizer.hpp"

#include "tasks/load.hpp"
#include "tasks/tokenize/tokenize.hpp"

namespace glassformer {

TextTokenizer TextTokenizer::load(const std::filesystem::path& folder) {
  FolderOnDisk files(folder);
  return TextTokenizer(std::make_unique<TokenizePipeline>(files));
}

TextTokenizer::TextTokenizer(std::unique_ptr<TokenizePipeline> pipeline)
    : pipeline_(std::move(pipeline)) {}
TextTokenizer::TextTokenizer(TextTokenizer&&) noexcept = default;
TextTokenizer& TextTokenizer::operator=(TextTokenizer&&) noexcept = default;
TextTokenizer::~TextTokenizer() = default;

EncodedText TextTokenizer::encode(const TextInput& text, const EncodeOptions& options) const {
  return pipeline_->encode(text, options);
}

std::string TextTokenizer::decode(std::span<const std::int32_t> ids,
                                  const DecodeOptions& options) const {
  return pipeline_->decode(ids, options);
}

std::size_t TextTokenizer::size() const { return pipeline_->tokenizer().size(); }
std::string_view TextTokenizer::piece(std::int32_t id) const {
  return pipeline_->tokenizer().piece(id);
}
std::optional<std::int32_t> TextTokenizer::id_of(std::string_view piece) const {
  return pipeline_->tokenizer().find(piece);
}

std::vector<std::string> TextTokenizer::languages() const {
  std::vector<std::string> codes;
  for (const Language& language : pipeline_->tokenizer().languages()) {
    codes.push_back(language.code);
  }
  return codes;
}

}  // namespace glassformer
