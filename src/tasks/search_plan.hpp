#pragma once

#include <optional>

#include "families/config/model_config.hpp"
#include "search/search.hpp"

namespace glassformer {

/// What a call says of its search.
struct SearchWishes {
  std::size_t beams;
  std::optional<float> length_penalty;
  std::optional<EarlyStopping> early_stopping;
};

/// A search as the library transformers does it: as the call says, else as the folder does, else as
/// is usual there. Throws `invalid_option`.
SearchOptions library_search(const SearchWishes& wishes, const GenerationConfig& folder);

/// How many tokens the decoder reads before a text may end, `read` of which are there from the
/// start: as the call says, else as the folder does.
std::size_t least_length(std::optional<std::size_t> min_new_tokens, const GenerationConfig& folder,
                         std::size_t read);

}  // namespace glassformer
