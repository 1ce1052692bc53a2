#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "families/config/config_fields.hpp"
#include "models/config.hpp"

namespace glassformer {

/// Visits a field with the id of a token.
inline void id_field(Fields& visitor, const char* name, std::int32_t& id) {
  auto number = static_cast<std::size_t>(id);
  visitor.size(name, number, {.least = 0, .most = max_vocab_size - 1});
  id = static_cast<std::int32_t>(number);
}

/// Visits the field with the id of the token that ends a text, whose vector is the text's.
inline void text_end_field(ConfigFields& visitor, std::optional<std::int32_t>& id) {
  constexpr const char* name = "text_end_id";
  optional_field(visitor, name, id, [&](std::int32_t& known) { id_field(visitor, name, known); });
}

/// Visits a field with an array. Calls `visit(item)` for each of its items.
template <class Item, class Visit>
void items(ConfigFields& visitor, const char* name, std::vector<Item>& items, const SizeRule& rule,
           const char* expected, const Visit& visit) {
  items.resize(visitor.enter_items(name, items.size(), rule, expected));
  for (std::size_t i = 0; i < items.size(); ++i) {
    visitor.enter_item(i);
    visit(items[i]);
  }
  visitor.leave_items();
}

}  // namespace glassformer
