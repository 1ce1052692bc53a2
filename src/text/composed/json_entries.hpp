#pragma once

#include <string>

#include "base/json/json.hpp"

namespace glassformer {

/// Calls use(element) for each element of an array.
template <typename Use>
void for_each_element(JsonValue array, const Use& use) {
  for (JsonEntries entry(array); entry.next();) use(entry.value());
}

/// Calls use(key, value) for each field of an object.
template <typename Use>
void for_each_field(JsonValue object, const Use& use) {
  for (JsonEntries entry(object); entry.next();) use(entry.key(), entry.value());
}

}  // namespace glassformer
