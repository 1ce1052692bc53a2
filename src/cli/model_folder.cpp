#include "cli/model_folder.hpp"

#include "models/model.hpp"

namespace glassformer {
namespace {

constexpr const char* weights_file = "model.safetensors";

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// Sets parameters from the file whose header was read already.
void load_weights(const std::filesystem::path& folder, WeightsFile weights,
                  std::vector<Parameter> parameters) {
  WeightsLoader loader(std::move(weights.header), std::move(parameters));

  const InputFile file(folder / weights_file, ErrorCode::invalid_safetensors);
  std::vector<char> staging(loader.staging_bytes());
  for (std::size_t i = 0; i < loader.tensors().size(); ++i) {
    const TensorInfo& tensor = loader.tensors()[i];
    const std::span bytes = std::span(staging).first(tensor.end - tensor.begin);
    file.read(weights.data_begin + tensor.begin, bytes);
    loader.load(i, std::as_bytes(bytes));
  }
  loader.finish();
}

}  // namespace

ModelConfig read_config(const std::filesystem::path& folder) {
  return parse_config(read_file(folder / "config.json", config_limit));
}

std::vector<std::string> model_files(const std::filesystem::path& folder) {
  std::vector<std::string> names = {"config.json", weights_file};
  for (const char* name : vocabulary_files) {
    if (is_there(folder / name)) names.push_back(name);
  }
  return names;
}

WeightsFile read_weights_header(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / weights_file;
  const InputFile file(path, ErrorCode::invalid_safetensors);
  std::array<char, 8> prefix;
  file.read(0, prefix);
  const std::uint64_t header_size = safetensors_header_size(std::as_bytes(std::span(prefix)));
  const std::uint64_t rest = file.size() - prefix.size();
  if (header_size > rest) {
    throw Error(ErrorCode::invalid_safetensors,
                path.string() + ": expected a header of " + std::to_string(header_size) +
                    " bytes, got a file of " + std::to_string(file.size()));
  }
  std::string header(header_size, '\0');
  file.read(prefix.size(), header);
  return {SafetensorsHeader::parse(header, rest - header_size), prefix.size() + header_size};
}

std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& folder, TokenizerSide side) {
  const auto file = [&](const std::string& name) -> std::optional<std::string> {
    if (!is_there(folder / name)) return std::nullopt;
    return read_file(folder / name, tokenizer_limit);
  };
  return read_tokenizer(file, side);
}

void load_weights(const std::filesystem::path& folder, std::vector<Parameter> parameters) {
  load_weights(folder, read_weights_header(folder), std::move(parameters));
}

std::unique_ptr<ClassifyPipeline> load_classifier(const std::filesystem::path& folder,
                                                  std::optional<Compute> compute) {
  ModelConfig config = read_config(folder);
  std::unique_ptr<Tokenizer> tokenizer = load_tokenizer(folder);
  WeightsFile weights = read_weights_header(folder);
  auto pipeline = std::make_unique<ClassifyPipeline>(
      std::move(config), std::move(tokenizer), compute.value_or(stored_compute(weights.header)));
  load_weights(folder, std::move(weights), pipeline->parameters());
  return pipeline;
}

std::unique_ptr<TranslatePipeline> load_translator(const std::filesystem::path& folder,
                                                   std::optional<Compute> compute,
                                                   bool shortlisted) {
  ModelConfig config = read_config(folder);
  std::unique_ptr<Tokenizer> target;
  if (!is_there(folder / "tokenizer.model")) target = load_tokenizer(folder, TokenizerSide::target);
  std::unique_ptr<Tokenizer> source = load_tokenizer(folder);
  std::string file;
  std::optional<std::span<const std::byte>> shortlist;
  if (shortlisted)
    shortlist = bytes_of(file = read_file(folder / "shortlist.bin", shortlist_limit));
  WeightsFile weights = read_weights_header(folder);
  auto pipeline = std::make_unique<TranslatePipeline>(
      std::move(config), std::move(source), std::move(target),
      compute.value_or(stored_compute(weights.header)), shortlist);
  load_weights(folder, std::move(weights), pipeline->parameters());
  return pipeline;
}

}  // namespace glassformer
