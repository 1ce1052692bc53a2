#pragma once

#include <optional>

#include "families/config/model_config.hpp"
#include "search/search.hpp"

namespace glassformer {

/// The options of a call for its search. Unset ones come from the folder.
struct SearchWishes {
  std::size_t beams;
  std::optional<float> length_penalty;
  std::optional<EarlyStopping> early_stopping;
};

/// Returns the options of a search as the transformers library does it. Unset options come from the
/// folder, otherwise from the defaults of that library. Throws `invalid_option`.
SearchOptions library_search(const SearchWishes& wishes, const GenerationConfig& folder);

/// Returns how many tokens the decoder must read before a text may end, including the `read` tokens
/// that it starts with. The option of the call overrides the folder.
std::size_t least_length(std::optional<std::size_t> min_new_tokens, const GenerationConfig& folder,
                         std::size_t read);

}  // namespace glassformer
