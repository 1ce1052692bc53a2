#include "run/trace/trace_plan.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "base/error.hpp"
#include "run/tape.hpp"
#include "weights/safetensors.hpp"

namespace glassformer {
namespace {

constexpr std::string_view first_layer = ".layers.0.";

// The names of all tensors, those that every layer has once: "encoder.layers.0-3.input".
std::string list_names(const std::vector<ModelTensor>& tensors) {
  const auto layers = [&](std::string_view stack) {
    std::size_t count = 1;
    const auto of_layer = [&](const ModelTensor& tensor) {
      return tensor.name.starts_with(std::string(stack) + ".layers." + std::to_string(count) + ".");
    };
    while (std::ranges::any_of(tensors, of_layer)) ++count;
    return count;
  };
  std::string list;
  for (const ModelTensor& tensor : tensors) {
    std::string name = tensor.name;
    if (const std::size_t at = name.find(".layers."); at != std::string::npos) {
      if (name.compare(at, first_layer.size(), first_layer) != 0) continue;
      const std::size_t count = layers(name.substr(0, at));
      if (count > 1) name.insert(at + first_layer.size() - 1, "-" + std::to_string(count - 1));
    }
    list.append(list.empty() ? "" : ", ").append(name);
  }
  return list;
}

[[noreturn]] void refuse(const Message& problem) {
  throw_error(ErrorCode::invalid_option, problem);
}

[[noreturn]] void refuse_name(const Message& option, const std::string& name,
                              const std::vector<ModelTensor>& tensors) {
  refuse({"{}: expected tensors of this model, got \"{}\"; it has {}",
          {option, name, list_names(tensors)}});
}

void expect_names(const char* option, const std::vector<std::string>& patterns,
                  const std::vector<ModelTensor>& tensors) {
  for (const std::string& pattern : patterns) {
    if (pattern.find("**") != std::string::npos) {
      refuse({"{}: expected *, which stands for any characters except dots, got ** in \"{}\"",
              {option, pattern}});
    }
    const auto meant = [&](const ModelTensor& tensor) { return matches(pattern, tensor.name); };
    if (std::ranges::none_of(tensors, meant)) refuse_name(option, pattern, tensors);
  }
}

// An option of a patch.
struct PatchOption {
  std::size_t patch;

  [[noreturn]] void refuse(const char* field, const Message& problem) const {
    glassformer::refuse({"patch[{}]{}: {}", {patch, field, problem}});
  }
  void expect_choosable(const char* what, const Patch::Selection& chosen, bool has) const {
    if (chosen && !has) refuse("", {"expected no {}, as the tensor has none", {what}});
  }
  void expect_below(const char* field, const Patch::Selection& chosen, std::size_t count) const {
    if (!chosen) return;
    for (const std::size_t index : *chosen) {
      if (index < count) continue;
      refuse(field, {"expected numbers below {}, got {}", {count, index}});
    }
  }
};

// The same of a patch that adds or removes a direction.
void check_direction(const PatchOption& option, const Patch& patch, const ModelTensor& tensor) {
  const bool adds = patch.kind == PatchKind::add;
  const char* const field = adds ? ".add" : ".remove";
  if (tensor.keys != ModelTensor::Axis::none) {
    option.refuse(field, {"expected a tensor with vectors, got {}", {tensor.name}});
  }
  const std::size_t heads = tensor.heads == 0 ? 1
                            : patch.heads     ? patch.heads->size()
                                              : tensor.heads;
  if (patch.value.size() != heads * tensor.columns) {
    option.refuse(field, {"expected the {} numbers of a row, got {}",
                          {heads * tensor.columns, patch.value.size()}});
  }
  if (!std::ranges::all_of(patch.value, [](float value) { return std::isfinite(value); })) {
    option.refuse(field, "expected finite numbers, got others");
  }
  if (!std::isfinite(patch.scale)) {
    option.refuse(".scale", "expected a finite number, got another");
  }
  if (!adds && std::ranges::all_of(patch.value, [](float value) { return value == 0.0f; })) {
    option.refuse(field, "expected a direction, got zeros");
  }
}

// Checks that do not depend on the length of the text.
void check(const PatchOption& option, const Patch& patch, const ModelTensor& tensor) {
  const bool is_map = tensor.keys != ModelTensor::Axis::none;
  option.expect_choosable("tokens", patch.tokens, tensor.has_rows());
  option.expect_choosable("heads", patch.heads, tensor.heads > 0);
  option.expect_choosable("keys", patch.keys, is_map);
  option.expect_below(".heads", patch.heads, tensor.heads);
  if (patch.kind != PatchKind::replace) return check_direction(option, patch, tensor);
  std::uint64_t numbers = 1;
  for (const std::size_t extent : patch.shape) numbers = saturating_product({numbers, extent});
  if (numbers != patch.value.size()) {
    option.refuse(".value", {"expected {} numbers, got {}", {numbers, patch.value.size()}});
  }
  const bool may_mask = is_map && tensor.name.ends_with(".scores");
  for (const float value : patch.value) {
    if (std::isfinite(value) || (may_mask && value < 0)) continue;
    option.refuse(".value",
                  {"expected finite numbers{}, got others", {may_mask ? " or -infinity" : ""}});
  }
}

// How large a patch's value has to be along an axis; with `at_most`, or smaller.
struct Extent {
  std::size_t size;
  bool at_most = false;
};

Extent extent_of(ModelTensor::Axis axis, const Patch::Selection& chosen,
                 const TextLengths& lengths) {
  if (chosen) return {chosen->size()};
  if (axis == ModelTensor::Axis::source) return {lengths.source};
  return {lengths.target, true};
}

std::vector<Extent> extents_of(const ModelTensor& tensor, const Patch& patch,
                               const TextLengths& lengths) {
  using Axis = ModelTensor::Axis;
  const Extent heads = {patch.heads ? patch.heads->size() : tensor.heads};
  if (tensor.keys != Axis::none) {
    return {heads, extent_of(tensor.rows, patch.tokens, lengths),
            extent_of(tensor.keys, patch.keys, lengths)};
  }
  std::vector<Extent> extents;
  if (tensor.entries > 0) {
    extents.push_back({patch.tokens ? patch.tokens->size() : tensor.entries});
  } else if (tensor.rows != Axis::none) {
    extents.push_back(extent_of(tensor.rows, patch.tokens, lengths));
  }
  if (tensor.heads > 0) extents.push_back(heads);
  extents.push_back({tensor.columns});
  return extents;
}

// The shape of a value whose numbers were given in a row: what is chosen of the tensor, where that
// leaves one extent open at most, which follows from how many numbers there are.
std::vector<std::size_t> whole_shape(const Patch& patch, const ModelTensor& tensor) {
  if (patch.kind != PatchKind::replace || patch.shape.size() != 1) return patch.shape;
  std::vector<std::size_t> shape;
  std::uint64_t known = 1;
  std::size_t open = 0, left_open = 0;
  for (const Extent& extent : extents_of(tensor, patch, {})) {
    if (extent.size > 0) {
      known = saturating_product({known, extent.size});
    } else {
      open = shape.size();
      ++left_open;
    }
    shape.push_back(extent.size);
  }
  const std::uint64_t count = patch.shape[0];
  if (left_open > 1 || count % known != 0) return patch.shape;
  if (left_open == 1) shape[open] = static_cast<std::size_t>(count / known);
  return left_open == 1 || count == known ? shape : patch.shape;
}

void expect_shape(const PatchOption& option, const Patch& patch, const ModelTensor& tensor,
                  const std::vector<Extent>& extents) {
  if (patch.shape.empty() || patch.kind != PatchKind::replace) return;
  const auto fits = [](std::size_t got, const Extent& expected) {
    return expected.at_most ? got <= expected.size : got == expected.size;
  };
  if (std::ranges::equal(patch.shape, extents, fits)) return;
  std::string expected;
  for (const auto& [size, at_most] : extents) {
    expected.append(expected.empty() ? "" : ", ").append(at_most ? "up to " : "");
    expected += std::to_string(size);
  }
  option.refuse(".value", {"expected the shape [{}] for {}, got {}",
                           {expected, tensor.name, to_string(patch.shape)}});
}

}  // namespace

TracePlan::TracePlan(const std::vector<ModelTensor>& tensors, Compute compute,
                     const TraceRequest& request)
    : request_(request) {
  if (!request_.asks_any()) return;
  expect_names("trace", request_.names, tensors);
  expect_names("gradients", request_.gradients, tensors);
  std::ranges::copy_if(tensors, std::back_inserter(asked_), [&](const ModelTensor& tensor) {
    return request_.asks_for_any(tensor.name);
  });
  std::map<std::size_t, const ModelTensor*> names;  // by id, as the first patch of it has it
  for (std::size_t i = 0; i < request_.patches.size(); ++i) {
    Patch& patch = request_.patches[i];
    const PatchOption option = {i};
    const auto tensor = std::ranges::find(tensors, patch.name, &ModelTensor::name);
    if (tensor == tensors.end()) refuse_name({"patch[{}].name", {i}}, patch.name, tensors);
    check(option, patch, *tensor);
    patch.shape = whole_shape(patch, *tensor);
    if (compute != Compute::f32 && tensor->heads > 0 && !patch.name.ends_with(".context")) {
      throw_error(ErrorCode::unsupported,
                  {"patch[{}]: {}: expected compute f32, as attention in integers does not read "
                   "the numbers that would be replaced",
                   {i, patch.name}});
    }
    const ModelTensor& other = *names.emplace(tensor->id, &*tensor).first->second;
    if (other.name != tensor->name) {
      option.refuse(".name", {"expected {} again or another tensor, got {}, a second name of "
                              "the same tensor",
                              {other.name, patch.name}});
    }
    replaced_.push_back(*tensor);
    // By the name that comes first in a run: those that come after show what it is then.
    patch.name = std::ranges::find(tensors, tensor->id, &ModelTensor::id)->name;
  }
}

std::uint64_t TracePlan::numbers(const TextLengths& lengths) const {
  std::uint64_t numbers = 0;
  for (const ModelTensor& tensor : asked_) {
    std::uint64_t size = 1;
    for (const std::size_t extent : tensor.shape(lengths))
      size = saturating_product({size, extent});
    numbers += size;
  }
  return numbers;
}

void TracePlan::expect_fit(const TextLengths& lengths) const {
  for (std::size_t i = 0; i < replaced_.size(); ++i) {
    const Patch& patch = request_.patches[i];
    const ModelTensor& tensor = replaced_[i];
    const auto length = [&](ModelTensor::Axis axis) {
      return axis == ModelTensor::Axis::source ? lengths.source : lengths.target;
    };
    const PatchOption option = {i};
    option.expect_below(".tokens", patch.tokens,
                        tensor.entries > 0 ? tensor.entries : length(tensor.rows));
    option.expect_below(".keys", patch.keys, length(tensor.keys));
    expect_shape(option, patch, tensor, extents_of(tensor, patch, lengths));
  }
}

}  // namespace glassformer
