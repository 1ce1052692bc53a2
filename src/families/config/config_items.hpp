#pragma once

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
