#include "text/training/character_map_writer.hpp"

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace glassformer {
namespace {

// A key and the position of its replacement.
struct MapKey {
  std::string_view text;
  std::uint32_t value;
};

// Builds a double array (Aoe 1989) in the format of Darts-clone. A node's children are at
// `base ^ byte`, and the value of a key that ends at the node is at `base`. No two nodes have the
// same base, so a child's byte identifies its parent. CharacterMap describes the units.
class DoubleArray {
 public:
  /// `keys` must be sorted.
  explicit DoubleArray(const std::vector<MapKey>& keys) : keys_(keys) {
    add_block();
    taken_[0] = 1;    // the root
    is_base_[0] = 1;  // no node may have this base, as in Darts-clone: SentencePiece checks it
    units_[0] = 0;
    add_children(0, 0, keys.size(), 0);
  }

  const std::vector<std::uint32_t>& units() const { return units_; }

 private:
  static constexpr std::uint32_t block = 256;  // one position for each byte
  static constexpr std::uint32_t leaf = 0x80000000;
  static constexpr std::uint32_t max_units = 1 << 21;  // limit of a unit's bits

  void add_block();
  void add_children(std::uint32_t node, std::size_t first, std::size_t last, std::size_t depth);
  std::uint32_t take_base(const std::vector<unsigned char>& labels);
  bool fits(std::uint32_t base, const std::vector<unsigned char>& labels) const;

  const std::vector<MapKey>& keys_;
  std::vector<std::uint32_t> units_;  // a free unit is a leaf, which no byte leads to
  std::vector<char> taken_;           // by position; not bool, whose bits take longer
  std::vector<char> is_base_;         // by position
  std::uint32_t first_free_ = 0;
};

void DoubleArray::add_block() {
  if (units_.size() + block > max_units) {
    throw_error(ErrorCode::too_large,
                {"character map: expected rules that fit into {} units, got more", {max_units}});
  }
  units_.resize(units_.size() + block, leaf);
  taken_.resize(units_.size());
  is_base_.resize(units_.size());
}

// Adds all nodes below `node`, whose keys [first, last) are equal in their first `depth` bytes.
void DoubleArray::add_children(std::uint32_t node, std::size_t first, std::size_t last,
                               std::size_t depth) {
  std::vector<unsigned char> labels;  // 0 stands for a key's end
  std::vector<std::size_t> starts;    // the first key of each label
  for (std::size_t i = first; i < last; ++i) {
    const std::string_view key = keys_[i].text;
    const unsigned char label = key.size() == depth ? 0 : static_cast<unsigned char>(key[depth]);
    if (!labels.empty() && labels.back() == label) continue;
    labels.push_back(label);
    starts.push_back(i);
  }
  starts.push_back(last);
  const std::uint32_t base = take_base(labels);
  units_[node] |= (node ^ base) << 10;
  for (const unsigned char label : labels) units_[base ^ label] = label;
  std::size_t child = 0;
  if (labels[0] == 0) {
    units_[node] |= 0x100;
    units_[base] = leaf | keys_[first].value;
    child = 1;
  }
  for (; child < labels.size(); ++child) {
    add_children(base ^ labels[child], starts[child], starts[child + 1], depth + 1);
  }
}

// Returns a new base with free positions for these children, and takes the positions.
std::uint32_t DoubleArray::take_base(const std::vector<unsigned char>& labels) {
  while (first_free_ < units_.size() && taken_[first_free_]) ++first_free_;
  for (std::uint32_t position = first_free_;; ++position) {
    if (position == units_.size()) add_block();
    const std::uint32_t base = position ^ labels[0];
    if (!fits(base, labels)) continue;
    is_base_[base] = 1;
    for (const unsigned char label : labels) taken_[base ^ label] = 1;
    return base;
  }
}

bool DoubleArray::fits(std::uint32_t base, const std::vector<unsigned char>& labels) const {
  if (is_base_[base]) return false;
  const char* const taken = taken_.data();
  for (const unsigned char label : labels) {
    if (taken[base ^ label]) return false;
  }
  return true;
}

void append_unit(std::string& bytes, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift & 0xFF);
}

}  // namespace

std::string write_character_map(const CharacterRules& rules) {
  if (rules.empty()) return "";
  std::map<std::string_view, std::uint32_t> positions;
  std::string replacements;
  std::vector<MapKey> keys;
  for (const auto& [key, replacement] : rules) {
    const auto [entry, added] =
        positions.emplace(replacement, static_cast<std::uint32_t>(replacements.size()));
    if (added) (replacements += replacement) += '\0';
    keys.push_back({key, entry->second});
  }
  const DoubleArray array(keys);
  std::string bytes;
  append_unit(bytes, static_cast<std::uint32_t>(array.units().size() * sizeof(std::uint32_t)));
  for (const std::uint32_t unit : array.units()) append_unit(bytes, unit);
  return bytes + replacements;
}

}  // namespace glassformer
