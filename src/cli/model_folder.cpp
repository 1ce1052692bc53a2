#include "cli/model_folder.hpp"

#include <array>
#include <fstream>
#include <stdexcept>

#include "models/model.hpp"

namespace glassformer {
namespace {

std::ifstream open(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) {
    throw std::runtime_error(path.string() + ": cannot be read");
  }
  return file;
}

std::string read(std::ifstream& file, std::uint64_t size, const std::filesystem::path& path) {
  std::string bytes(size, '\0');
  if (!file.read(bytes.data(), static_cast<std::streamsize>(size))) {
    throw Error(ErrorCode::invalid_safetensors, path.string() + ": expected " +
                                                    std::to_string(size) + " bytes more, got " +
                                                    std::to_string(file.gcount()));
  }
  return bytes;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// Sets parameters from the file whose header was read already.
void load_weights(const std::filesystem::path& folder, WeightsFile weights,
                  std::vector<Parameter> parameters) {
  WeightsLoader loader(std::move(weights.header), std::move(parameters));

  const std::filesystem::path path = folder / "model.safetensors";
  std::ifstream file = open(path);
  std::string staging;
  for (std::size_t i = 0; i < loader.tensors().size(); ++i) {
    const TensorInfo& tensor = loader.tensors()[i];
    file.seekg(static_cast<std::streamoff>(weights.data_begin + tensor.begin));
    staging = read(file, tensor.end - tensor.begin, path);
    loader.load(i, bytes_of(staging));
  }
  loader.finish();
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file = open(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_new_file(const std::filesystem::path& path, std::string_view bytes) {
  if (std::filesystem::exists(path)) {
    throw std::runtime_error(path.string() + ": exists already; nothing was written");
  }
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw std::runtime_error(path.string() + ": cannot be written");
}

WeightsFile read_weights_header(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "model.safetensors";
  std::ifstream file = open(path);
  const std::uint64_t file_size = std::filesystem::file_size(path);
  const std::string prefix = read(file, 8, path);
  const std::uint64_t header_size = safetensors_header_size(bytes_of(prefix).first<8>());
  if (header_size > file_size - 8) {
    throw Error(ErrorCode::invalid_safetensors,
                path.string() + ": expected a header of " + std::to_string(header_size) +
                    " bytes, got a file of " + std::to_string(file_size));
  }
  const std::string header = read(file, header_size, path);
  return {SafetensorsHeader::parse(header, file_size - 8 - header_size), 8 + header_size};
}

Tokenizer load_tokenizer(const std::filesystem::path& folder, const std::string& side) {
  std::filesystem::path path = folder / "tokenizer.model";
  if (!std::filesystem::exists(path) && std::filesystem::exists(folder / (side + ".model"))) {
    path = folder / (side + ".model");
  }
  const std::string file = read_file(path);
  return Tokenizer::parse(bytes_of(file));
}

void load_weights(const std::filesystem::path& folder, std::vector<Parameter> parameters) {
  load_weights(folder, read_weights_header(folder), std::move(parameters));
}

std::unique_ptr<ClassifyPipeline> load_classifier(const std::filesystem::path& folder,
                                                  std::optional<Compute> compute) {
  ModelConfig config = parse_config(read_file(folder / "config.json"));
  Tokenizer tokenizer = load_tokenizer(folder);
  WeightsFile weights = read_weights_header(folder);
  auto pipeline = std::make_unique<ClassifyPipeline>(
      std::move(config), std::move(tokenizer), compute.value_or(stored_compute(weights.header)));
  load_weights(folder, std::move(weights), pipeline->parameters());
  return pipeline;
}

std::unique_ptr<TranslatePipeline> load_translator(const std::filesystem::path& folder,
                                                   std::optional<Compute> compute,
                                                   bool shortlisted) {
  ModelConfig config = parse_config(read_file(folder / "config.json"));
  std::optional<Tokenizer> target;
  if (!std::filesystem::exists(folder / "tokenizer.model")) {
    target = load_tokenizer(folder, "target");
  }
  Tokenizer source = load_tokenizer(folder, "source");
  std::string file;
  std::optional<std::span<const std::byte>> shortlist;
  if (shortlisted) shortlist = bytes_of(file = read_file(folder / "shortlist.bin"));
  WeightsFile weights = read_weights_header(folder);
  auto pipeline = std::make_unique<TranslatePipeline>(
      std::move(config), std::move(source), std::move(target),
      compute.value_or(stored_compute(weights.header)), shortlist);
  load_weights(folder, std::move(weights), pipeline->parameters());
  return pipeline;
}

}  // namespace glassformer
