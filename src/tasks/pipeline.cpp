#include "tasks/pipeline.hpp"

#include <algorithm>

#include "base/json/json_writer.hpp"
#include "models/dictionary/dictionary_files.hpp"
#include "tasks/make_pipeline.hpp"

namespace glassformer {

void refuse_kind() {
  throw_error(ErrorCode::invalid_option,
              "inputs: expected those of the model's task: texts or pictures");
}

std::vector<std::string_view> single_texts(std::span<const TextInput> texts) {
  std::vector<std::string_view> views;
  for (const TextInput& text : texts) views.push_back(text.alone());
  return views;
}

std::string vocabulary_json(const Pipeline& pipeline) {
  if (!pipeline.vocabulary()) return "[]";
  const Tokenizer& tokenizer = *pipeline.vocabulary();
  // Tokens without a row in the model's table never occur in results.
  const std::size_t size = std::min(tokenizer.size(), pipeline.config().reader().vocab_size());
  JsonWriter json;
  json.array([&] {
    for (std::size_t id = 0; id < size; ++id) {
      json.value(tokenizer.display_text(static_cast<std::int32_t>(id)));
    }
  });
  return json.take();
}

std::string to_json(const Error& error) {
  JsonWriter json;
  json.object([&] {
    json.key("error");
    json.object([&] {
      json.field("code", to_string(error.code()));
      json.field("message", error.what());
      if (!error.field().empty()) json.field("field", error.field());
    });
  });
  return json.take();
}

std::vector<NamedParameter> use_dictionaries(Pipeline& pipeline, std::string_view config,
                                             std::span<const std::byte> weights) {
  std::shared_ptr<DictionarySet> read = read_dictionaries(config, weights, pipeline.parameters());
  std::vector<NamedParameter> parameters = read->parameters();
  pipeline.set_dictionaries(std::move(read));
  return parameters;
}

const DictionarySet& Pipeline::dictionaries() const {
  if (dictionaries_) return *dictionaries_;
  refuse_option("dictionaries", "expected dictionaries of the model, got none");
}

}  // namespace glassformer
