#include "models/dictionary/dictionary_files.hpp"

#include <algorithm>
#include <cmath>
#include <list>

#include "base/error.hpp"
#include "base/json/json.hpp"
#include "base/json/json_writer.hpp"
#include "weights/loader.hpp"
#include "weights/quantize.hpp"

namespace glassformer {
namespace {

constexpr JsonSource config_source = {ErrorCode::invalid_config, "dictionary: config.json"};
constexpr std::uint64_t most_numbers = 1 << 24, most_dictionaries = 1024;
constexpr std::size_t numbers_of_vector = 8;
constexpr float tolerance = 0.02f;  // of marks: weights may be stored with few bits

// "decoder.layers.2." of "decoder.layers.2.fc2".
std::string layer_of(const std::string& name) {
  const std::size_t layers = name.find(".layers.");
  if (layers == std::string::npos) return name.substr(0, name.find('.') + 1);
  return name.substr(0, name.find('.', layers + 8) + 1);
}

DictionaryKind kind_of(JsonObject& object) {
  const std::string name = object.string("kind");
  for (std::size_t i = 0; i < enum_names<DictionaryKind>.size(); ++i) {
    if (name == enum_names<DictionaryKind>[i]) return static_cast<DictionaryKind>(i);
  }
  object.fail("kind", {"expected \"transcoder\" or \"sae\", got {}", {describe(name)}});
}

}  // namespace

std::vector<float> marks_of(const std::vector<NamedParameter>& model, const std::string& writes) {
  const std::string layer = layer_of(writes);
  std::vector<float> marks;
  for (const NamedParameter& parameter : model) {
    if (parameter.shape.size() != 1 || !parameter.name.starts_with(layer)) continue;
    for (std::size_t i = 0; i < std::min(numbers_of_vector, parameter.shape[0]); ++i) {
      marks.push_back(row_of(parameter, i)[0]);
    }
  }
  return marks;
}

std::string dictionary_config(const DictionarySet& dictionaries) {
  JsonWriter json(JsonWriter::Layout::lines);
  json.object([&] {
    json.field("format", 1);
    json.field("model_type", "dictionary");
    json.key("dictionaries");
    json.array([&] {
      for (std::size_t i = 0; i < dictionaries.size(); ++i) {
        const DictionaryConfig& config = dictionaries[i].config();
        json.object([&] {
          json.field("kind", enum_names<DictionaryKind>[static_cast<std::size_t>(config.kind)]);
          json.field("reads", config.reads);
          json.field("writes", config.writes);
          json.field("d_model", config.d_model);
          json.field("features", config.features);
          json.field("active", config.active);
          json.field("marks", config.marks);
        });
      }
    });
  });
  return json.take() + "\n";
}

std::vector<std::byte> dictionary_weights(DictionarySet& dictionaries) {
  std::vector<NamedTensor> tensors;
  std::list<QuantizedMatrix> matrices;
  std::list<std::vector<float>> vectors;
  for (const NamedParameter& parameter : dictionaries.parameters()) {
    const std::size_t rows = parameter.shape[0], columns = element_count(parameter.shape) / rows;
    std::vector<float>& values = vectors.emplace_back(rows * columns);
    for (std::size_t i = 0; i < rows; ++i) {
      parameter.get(i, std::span(values).subspan(i * columns, columns));
    }
    if (parameter.shape.size() == 1) {
      tensors.push_back(
          {parameter.name, DType::f32, parameter.shape, std::as_bytes(std::span(values))});
      continue;
    }
    const QuantizedMatrix& matrix = matrices.emplace_back(quantize(values, rows, 8));
    tensors.push_back(
        {parameter.name, DType::i8, parameter.shape, std::as_bytes(std::span(matrix.values))});
    tensors.push_back(
        {parameter.name + "_scale", DType::f32, {rows}, std::as_bytes(std::span(matrix.scales))});
  }
  return write_safetensors(tensors);
}

std::unique_ptr<DictionarySet> read_dictionaries(std::string_view config,
                                                 std::span<const std::byte> weights,
                                                 const std::vector<NamedParameter>& model) {
  JsonObject object(parse_json(config, config_source), config_source);
  object.integer("format", 1, 1);
  if (const std::string type = object.string("model_type"); type != "dictionary") {
    object.fail("model_type", {"expected \"dictionary\", got {}", {describe(type)}});
  }
  const JsonValue list = object.require("dictionaries");
  object.finish();
  std::vector<DictionaryConfig> configs;
  if (!list.is_array() || count_entries(list) == 0 || count_entries(list) > most_dictionaries) {
    object.fail("dictionaries", {"expected a list of at most {} dictionaries, got {}",
                                 {most_dictionaries, describe(list)}});
  }
  for (JsonEntries entries(list); entries.next();) {
    JsonObject each(entries.value(), config_source, "dictionaries");
    DictionaryConfig& of = configs.emplace_back();
    of.kind = kind_of(each);
    of.reads = each.string("reads");
    of.writes = each.string("writes");
    const auto size = [&each](const char* name, std::uint64_t least, std::uint64_t most) {
      return static_cast<std::size_t>(each.integer(name, least, most));
    };
    of.d_model = size("d_model", 1, most_numbers);
    of.features = size("features", 1, most_numbers);
    of.active = size("active", 1, of.features);
    of.marks = size("marks", 0, most_numbers);
    each.finish();
  }
  auto dictionaries = std::make_unique<DictionarySet>(configs);
  const SafetensorsFile file = SafetensorsFile::parse(weights);
  WeightsLoader loader(file.header(), dictionaries->parameters());
  for (std::size_t i = 0; i < loader.size(); ++i) loader.load(i, file.bytes(loader.tensor(i)));
  loader.finish();
  for (std::size_t i = 0; i < dictionaries->size(); ++i) {
    const Dictionary& of = (*dictionaries)[i];
    const std::vector<float> marks = marks_of(model, of.config().writes);
    float largest = 0;
    for (const float mark : marks) largest = std::max(largest, std::abs(mark));
    const auto equal = [&](float a, float b) { return std::abs(a - b) <= tolerance * largest; };
    if (!std::ranges::equal(marks, of.marks(), equal)) {
      throw_error(ErrorCode::invalid_weights,
                  {"dictionary: {}: expected one that was made for this model, got one for another",
                   {of.config().writes}});
    }
  }
  return dictionaries;
}

}  // namespace glassformer
