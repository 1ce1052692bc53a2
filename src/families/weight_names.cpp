#include "families/weight_names.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <memory>

#include "base/error.hpp"
#include "weights/quantize.hpp"

namespace glassformer {
namespace {

// The text that matches the pattern's "#", and the text after the pattern: ".weight".
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

std::string filled(std::string_view pattern, const Match& match, std::size_t first_layer) {
  std::string name(pattern);
  if (const std::size_t hash = name.find('#'); hash != std::string::npos) {
    std::size_t layer = 0;
    std::from_chars(match.number.data(), match.number.data() + match.number.size(), layer);
    name.replace(hash, 1, std::to_string(layer + first_layer));
  }
  const bool weight = match.rest == ".weight";
  if (name.ends_with("ln_")) return name.append(weight ? "scale" : "bias");
  const std::size_t kind = name.find('%');
  if (kind == std::string::npos) return name.append(match.rest);
  name[kind] = weight ? 'W' : 'b';
  return name;
}

// Early checkpoints call a norm's weight and bias gamma and beta.
std::string early_name(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  const std::string_view layer = std::string_view(name).substr(0, dot);
  if (!layer.ends_with("LayerNorm")) return name;
  return std::string(layer) + (name.ends_with(".weight") ? ".gamma" : ".beta");
}

// One tensor of a file that holds several parameters, or is stored transposed.
class StoredTensor {
 public:
  StoredTensor(std::vector<NamedParameter> parts, TensorLayout layout) : parts_(std::move(parts)) {
    const std::vector<std::size_t>& first = parts_[0].shape;
    for (const NamedParameter& part : parts_) outputs_ += part.shape[0];
    inputs_ = first.size() > 1 ? first[1] : 1;
    transposed_ = layout == TensorLayout::transposed && first.size() > 1;
    minus_one_ = layout == TensorLayout::minus_one;
    if (layout == TensorLayout::by_head) head_rows_ = parts_[0].head_rows;
    shape_ = first;
    shape_[0] = outputs_;
    if (transposed_) shape_ = {inputs_, outputs_};
  }

  const std::vector<std::size_t>& shape() const { return shape_; }

  // Takes rows of the file's tensor, from `first` on. In a transposed tensor, each row has weights
  // of all outputs, so rows are kept until the last one has arrived.
  void set(std::span<const float> values, std::size_t first) {
    if (minus_one_) {
      std::vector<float> more(values.begin(), values.end());
      for (float& value : more) value += 1.0f;
      return set_outputs(more, first);
    }
    if (head_rows_ > 0) return set_heads(values, first);
    if (!transposed_) return set_outputs(values, first);
    kept_.reserve(inputs_ * outputs_);
    kept_.insert(kept_.end(), values.begin(), values.end());
    if (kept_.size() < inputs_ * outputs_) return;
    constexpr std::size_t together = 16;  // outputs
    std::vector<float> rows(together * inputs_);
    for (std::size_t output = 0; output < outputs_; output += together) {
      const std::size_t count = std::min(together, outputs_ - output);
      for (std::size_t input = 0; input < inputs_; ++input) {
        const float* from = &kept_[input * outputs_ + output];
        for (std::size_t i = 0; i < count; ++i) rows[i * inputs_ + input] = from[i];
      }
      set_outputs(std::span(rows).first(count * inputs_), output);
    }
    kept_ = std::vector<float>();  // {} would keep its memory
  }

 private:
  // Passes rows that are in the order of heads, head_rows_ of each part in turn.
  void set_heads(std::span<const float> values, std::size_t first) {
    std::vector<float> vector(shape_.size() == 1 ? outputs_ : 0);  // comes as a whole
    for (std::size_t i = 0; i < values.size() / inputs_; ++i) {
      const std::size_t block = (first + i) / head_rows_, row = (first + i) % head_rows_;
      const std::size_t part = block % parts_.size(), head = block / parts_.size();
      const std::size_t output = part * parts_[0].shape[0] + head * head_rows_ + row;
      if (vector.empty()) {
        set_outputs(values.subspan(i * inputs_, inputs_), output);
      } else {
        vector[output] = values[i];
      }
    }
    if (!vector.empty()) set_outputs(vector, 0);
  }

  // Passes the weights of some outputs, from `first` on, to the parts they belong to.
  void set_outputs(std::span<const float> values, std::size_t first) {
    const std::size_t end = first + values.size() / inputs_;
    std::size_t start = 0;  // of the part
    for (const NamedParameter& part : parts_) {
      const std::size_t stop = start + part.shape[0];
      const std::size_t from = std::max(first, start), to = std::min(end, stop);
      if (from < to) {
        const auto own = values.subspan((from - first) * inputs_, (to - from) * inputs_);
        set_values(part, own, from - start);
      }
      start = stop;
    }
  }

  std::vector<NamedParameter> parts_;
  std::vector<std::size_t> shape_;  // in the file
  std::size_t inputs_, outputs_ = 0;
  bool transposed_, minus_one_;
  std::size_t head_rows_ = 0;  // 0: rows are not in the order of heads
  std::vector<float> kept_;    // [inputs, outputs], rows received so far
};

// Combines the parameters that one tensor of the file holds into one.
NamedParameter stored(std::vector<NamedParameter> parts, TensorLayout layout) {
  const std::string name = parts[0].name;
  const auto tensor = std::make_shared<StoredTensor>(std::move(parts), layout);
  return {.name = name,
          .shape = tensor->shape(),
          .set = [tensor](std::span<const float> values, std::size_t first) {
            tensor->set(values, first);
          }};
}

// The name of a parameter in the files.
struct FamilyName {
  std::string name;
  const TensorName* tensor = nullptr;  // in the family's table
};

class FamilyNames {
 public:
  FamilyNames(const Family& family, const std::set<std::string>& names)
      : family_(family), names_(names) {
    prefixed_ = std::ranges::any_of(
        names, [&](const std::string& name) { return name.starts_with(family.prefix); });
  }

  FamilyName find(const std::string& ours) {
    FamilyName usual;
    for (const std::span<const TensorName> table : {family_.tensors, family_.heads}) {
      const bool base = table.data() == family_.tensors.data();
      for (const TensorName& tensor : table) {
        const Match found = match(tensor.ours, ours);
        if (!found.found) continue;
        const std::string plain = filled(tensor.theirs, found, family_.first_layer);
        const std::string long_name = std::string(family_.prefix) + plain;
        for (const std::string& name :
             {plain, long_name, early_name(plain), early_name(long_name)}) {
          if (!names_.contains(name) || (!base && !of_heads_.insert(name).second)) continue;
          return {name, &tensor};
        }
        if (usual.name.empty()) usual = {base && prefixed_ ? long_name : plain, &tensor};
      }
    }
    if (usual.name.empty()) {
      throw_error(ErrorCode::internal, {"{}: the family has no name for it", {ours}});
    }
    return usual;
  }

 private:
  const Family& family_;
  const std::set<std::string>& names_;
  std::set<std::string> of_heads_;  // heads that have parameters
  bool prefixed_;
};

// A tensor of the file, and the parameters that it holds.
struct Stored {
  std::vector<const TensorName*> names;  // of each part, in the order of the table
  std::vector<NamedParameter> parts;

  void add(const TensorName* name, NamedParameter part) {
    const auto place = std::ranges::upper_bound(names, name) - names.begin();
    names.insert(names.begin() + place, name);
    parts.insert(parts.begin() + place, std::move(part));
  }
};

}  // namespace

std::vector<NamedParameter> in_family_names(std::vector<NamedParameter> parameters,
                                            const Family& family,
                                            const std::set<std::string>& names,
                                            const std::set<std::string>& integers) {
  FamilyNames family_names(family, names);
  std::vector<Stored> tensors;  // in the order of their first parts
  std::map<std::string, std::size_t> known;
  for (NamedParameter& parameter : parameters) {
    const FamilyName found = family_names.find(parameter.name);
    parameter.name = found.name;
    const std::size_t index = known.emplace(found.name, tensors.size()).first->second;
    if (index == tensors.size()) tensors.emplace_back();
    tensors[index].add(found.tensor, std::move(parameter));
  }
  std::vector<NamedParameter> theirs;
  for (Stored& tensor : tensors) {
    const bool straight = integers.contains(tensor.parts[0].name);
    const TensorLayout layout = straight ? TensorLayout::rows : tensor.names[0]->layout;
    const bool as_it_is = tensor.parts.size() == 1 && layout == TensorLayout::rows;
    theirs.push_back(as_it_is ? std::move(tensor.parts[0])
                              : stored(std::move(tensor.parts), layout));
  }
  return theirs;
}

}  // namespace glassformer
