#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/dictionary/dictionary.hpp"

namespace glassformer {

// A folder of dictionaries has config.json, which names them, and model.safetensors, with matrices
// of 8-bit integers.

/// Returns some numbers of the layer that a dictionary belongs to, by which a model is recognized
/// whatever its weights are stored as: the first eight of each of its vectors.
std::vector<float> marks_of(const std::vector<NamedParameter>& model, const std::string& writes);

std::string dictionary_config(const DictionarySet& dictionaries);
std::vector<std::byte> dictionary_weights(DictionarySet& dictionaries);

/// Reads both files, for this model. Throws `invalid_config`, the errors of WeightsLoader, and
/// `invalid_weights` if the dictionaries were made for another model.
std::unique_ptr<DictionarySet> read_dictionaries(std::string_view config,
                                                 std::span<const std::byte> weights,
                                                 const std::vector<NamedParameter>& model);

}  // namespace glassformer
