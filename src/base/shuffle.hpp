#pragma once

#include <cstddef>
#include <utility>

#include "base/split_mix.hpp"

namespace glassformer {

/// Puts elements into a random order (Durstenfeld 1964): the same for the same random numbers.
template <class Elements>
void shuffle(Elements& elements, SplitMix64& random) {
  for (std::size_t i = elements.size(); i > 1; --i) {
    std::swap(elements[i - 1], elements[static_cast<std::size_t>(random.next() % i)]);
  }
}

template <class Elements>
void shuffle(Elements& elements, SplitMix64&& random) {
  shuffle(elements, random);
}

}  // namespace glassformer
