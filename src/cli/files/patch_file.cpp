#include "cli/files/patch_file.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "cli/files/npy_file.hpp"
#include "families/folder/input_file.hpp"
#include "weights/floats.hpp"
#include "weights/safetensors.hpp"

namespace glassformer {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{4} << 30;

Patch::Selection chosen(const std::vector<std::size_t>& indices) {
  if (indices.empty()) return std::nullopt;
  return indices;
}

// Parses the file. Errors name the given file, rather than one of a model folder.
SafetensorsFile parse(std::string_view bytes, const std::string& name) {
  try {
    return SafetensorsFile::parse(std::as_bytes(std::span(bytes)));
  } catch (const Error& error) {
    static constexpr std::string_view usual = "model.safetensors";
    std::string_view text = error.what();
    if (text.starts_with(usual)) text.remove_prefix(usual.size() + 2);
    throw Error(error.code(), name + ": " + std::string(text));
  }
}

Patch to_patch(const TensorInfo& tensor, const SafetensorsFile& file, const PatchFile& wanted) {
  if (tensor.name.find('/') != std::string::npos) {
    throw_error(
        ErrorCode::invalid_option,
        {"--patch: expected tensor names as in a trace of one line, got {}", {tensor.name}});
  }
  if (!holds_weights(tensor.dtype)) {
    throw_error(ErrorCode::unsupported_dtype, {"--patch: {}: expected F32, F16 or BF16, got {}",
                                               {tensor.name, to_string(tensor.dtype)}});
  }
  Patch patch = {.name = tensor.name,
                 .tokens = chosen(wanted.tokens),
                 .heads = chosen(wanted.heads),
                 .shape = tensor.shape,
                 .value = std::vector<float>(element_count(tensor.shape))};
  to_f32(tensor.dtype, file.bytes(tensor), patch.value);
  return patch;
}

bool is_npy(const std::filesystem::path& path) { return path.extension() == ".npy"; }

// Reads the tensors of a file as patches.
std::vector<Patch> file_patches(const std::filesystem::path& path, const PatchFile& wanted,
                                PatchKind kind) {
  const std::string name = path.string();
  const std::string bytes = read_file(path, {name, ErrorCode::invalid_safetensors, most_bytes});
  std::vector<Patch> patches;
  if (kind != PatchKind::replace && is_npy(path)) {
    if (wanted.at.empty()) {
      throw_error(ErrorCode::invalid_option,
                  {"{}: expected --steer-at NAME, too: a .npy file names no tensor", {name}});
    }
    Patch& patch = patches.emplace_back(Patch{.name = wanted.at,
                                              .tokens = chosen(wanted.tokens),
                                              .heads = chosen(wanted.heads),
                                              .value = vector_of_npy(bytes, name)});
    patch.shape = {patch.value.size()};
    return patches;
  }
  const SafetensorsFile file = parse(bytes, name);
  for (const TensorInfo& tensor : file.header().tensors()) {
    patches.push_back(to_patch(tensor, file, wanted));
  }
  return patches;
}

void add_file(const std::filesystem::path& path, const PatchFile& wanted, PatchKind kind,
              std::vector<Patch>& patches) {
  if (path.empty()) return;
  for (Patch& patch : file_patches(path, wanted, kind)) {
    patch.kind = kind;
    if (kind != PatchKind::replace) patch.from = wanted.from;
    if (kind == PatchKind::add) patch.scale = wanted.scale;
    patches.push_back(std::move(patch));
  }
}

}  // namespace

std::vector<Patch> read_patches(const PatchFile& wanted) {
  std::vector<Patch> patches;
  const bool directions = !wanted.steer.empty() || !wanted.project_out.empty();
  if (wanted.path.empty() && !directions && (!wanted.tokens.empty() || !wanted.heads.empty())) {
    throw_error(ErrorCode::invalid_option,
                {"--patch-tokens, --patch-heads: expected --patch FILE, too", {}});
  }
  if (!directions && (wanted.scale != 1 || wanted.from != 0)) {
    throw_error(ErrorCode::invalid_option,
                {"--scale, --steer-from: expected --steer FILE or --project-out FILE, too", {}});
  }
  if (!wanted.at.empty() && !is_npy(wanted.steer) && !is_npy(wanted.project_out)) {
    throw_error(ErrorCode::invalid_option,
                {"--steer-at: expected a .npy file of --steer or --project-out, too", {}});
  }
  add_file(wanted.path, wanted, PatchKind::replace, patches);
  add_file(wanted.steer, wanted, PatchKind::add, patches);
  add_file(wanted.project_out, wanted, PatchKind::remove, patches);
  return patches;
}

}  // namespace glassformer
