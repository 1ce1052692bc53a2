#include "checkpoints/weight_names.hpp"

#include <algorithm>

#include "error.hpp"

namespace glassformer {
namespace {

bool matches(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  for (std::size_t end = star; end <= name.size(); ++end) {
    if (matches(pattern.substr(star + 1), name.substr(end))) return true;
  }
  return false;
}

// What stands in a name for the pattern's "#", and what follows the pattern: ".weight".
struct Match {
  bool found = false;
  std::string_view number, rest;
};

Match match(std::string_view pattern, std::string_view name) {
  const std::size_t hash = pattern.find('#');
  Match match;
  if (hash != std::string_view::npos) {
    if (!name.starts_with(pattern.substr(0, hash))) return {};
    name.remove_prefix(hash);
    match.number = name.substr(0, std::min(name.find_first_not_of("0123456789"), name.size()));
    name.remove_prefix(match.number.size());
    pattern.remove_prefix(hash + 1);
  }
  match.rest = name.substr(std::min(pattern.size(), name.size()));
  match.found = name.starts_with(pattern) &&
                (match.rest == ".weight" || match.rest == ".bias" || match.rest.empty());
  return match;
}

std::string filled(std::string_view pattern, const Match& match) {
  std::string name(pattern);
  if (const std::size_t hash = name.find('#'); hash != std::string::npos) {
    name.replace(hash, 1, match.number);
  }
  return name.append(match.rest);
}

// Early checkpoints have a norm's weight and bias as gamma and beta.
std::string early_name(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  const std::string_view layer = std::string_view(name).substr(0, dot);
  if (!layer.ends_with("LayerNorm")) return name;
  return std::string(layer) + (name.ends_with(".weight") ? ".gamma" : ".beta");
}

}  // namespace

std::vector<Parameter> in_family_names(std::vector<Parameter> parameters, const Family& family,
                                       const std::set<std::string>& names) {
  const bool prefixed = std::ranges::any_of(
      names, [&](const std::string& name) { return name.starts_with(family.prefix); });
  for (Parameter& parameter : parameters) {
    std::string usual;
    const auto find = [&](std::span<const TensorName> table, bool base) {
      for (const TensorName& tensor : table) {
        const Match found = match(tensor.ours, parameter.name);
        if (!found.found) continue;
        const std::string plain = filled(tensor.theirs, found);
        const std::string long_name = std::string(family.prefix) + plain;
        for (const std::string& name :
             {plain, long_name, early_name(plain), early_name(long_name)}) {
          if (!names.contains(name)) continue;
          parameter.name = name;
          return true;
        }
        if (usual.empty()) usual = base && prefixed ? long_name : plain;
      }
      return false;
    };
    if (find(family.tensors, true) || find(family.heads, false)) continue;
    if (usual.empty()) {
      throw_error(ErrorCode::internal, {"{}: the family has no name for it", {parameter.name}});
    }
    parameter.name = usual;
  }
  return parameters;
}

bool is_ignored(const Family& family, const std::string& name) {
  std::string_view plain = name;
  if (plain.starts_with(family.prefix)) plain.remove_prefix(family.prefix.size());
  const auto fits = [&](std::string_view pattern) { return matches(pattern, plain); };
  if (std::ranges::any_of(family.ignored, fits)) return true;
  return std::ranges::any_of(
      family.heads, [&](const TensorName& tensor) { return match(tensor.theirs, plain).found; });
}

}  // namespace glassformer
