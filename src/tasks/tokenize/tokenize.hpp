#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/tasks/tokenize.hpp"
#include "families/folder/folder_tokenizers.hpp"
#include "tasks/pipeline.hpp"

namespace glassformer {

/// Options of one call: to encode texts or, with `decode`, to decode these ids instead.
struct TokenizeOptions {
  EncodeOptions encode = {};
  std::optional<std::vector<std::int32_t>> decode = {};
};

template <class Visit>
void fields(Visit& visit, TokenizeOptions& options) {
  fields(visit, options.encode);
  visit("decode", options.decode,
        {.help = "Decode these tokens instead of encoding texts.", .items = "ids of tokens"});
}

/// The tokenizers of a folder, as a pipeline without a model. If there are two, texts are encoded
/// with that of the source and decoded with that of the translations.
class TokenizePipeline final : public Pipeline {
 public:
  /// Reads the tokenizers of a folder and no other file but config.json, which may be absent.
  /// Throws the errors of read_tokenizers_alone and template_of.
  explicit TokenizePipeline(ModelFiles& files);

  std::vector<NamedParameter> parameters() override { return {}; }
  /// Only the fields that tell what belongs around a text.
  const ModelConfig& config() const override { return read_.config; }
  Compute compute() const override { return Compute::f32; }

  std::unique_ptr<Job> begin(const TaskInputs& inputs, const TaskOptions& options) override;
  std::unique_ptr<TypedJob<EncodedText>> begin(std::span<const TextInput> texts,
                                               const EncodeOptions& options) const;

  EncodedText encode(const TextInput& text, const EncodeOptions& options) const;
  std::string decode(std::span<const std::int32_t> ids, const DecodeOptions& options) const;

  /// The tokenizer of the texts that are encoded.
  const Tokenizer& tokenizer() const { return *read_.source; }

 private:
  /// Returns the template around one text or two.
  std::vector<TemplatePart> parts_of(bool pair, const EncodeOptions& options) const;

  TokenizersAlone read_;
  TokenTemplate around_;
};

/// Returns {"task", "size", "languages"}: a description in place of a model's.
std::string describe_tokenizer_json(const Tokenizer& tokenizer);

/// The name of the task in place of a model's.
inline constexpr std::string_view tokenization = "tokenization";

}  // namespace glassformer
