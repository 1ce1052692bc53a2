#include "tasks/search_plan.hpp"

#include "api/output.hpp"
#include "tasks/options.hpp"

namespace glassformer {

SearchOptions library_search(const SearchWishes& wishes, const GenerationConfig& folder) {
  using Stop = SearchOptions::Stop;
  static constexpr Stop stops[] = {Stop::all_ahead, Stop::at_once, Stop::never};
  expect_beams(wishes.beams);
  // With one beam, the hypothesis is followed to its end, and the folder's length penalty is not
  // used: the score is a mean.
  const bool several = wishes.beams > 1;
  const EarlyStopping stopping =
      wishes.early_stopping.value_or(folder.early_stopping.value_or(EarlyStopping::no));
  const float usual = several ? folder.length_penalty.value_or(1.0f) : 1.0f;
  const SearchOptions search = {
      .beams = wishes.beams,
      .length_penalty = wishes.length_penalty.value_or(usual),
      .max_repeats = 0,
      .stop = several ? stops[static_cast<std::size_t>(stopping)] : Stop::at_once,
      .renormalize = folder.renormalize,
      .last_token = folder.last_token};
  expect_between("length_penalty", -max_length_penalty, max_length_penalty, search.length_penalty);
  return search;
}

std::size_t least_length(std::optional<std::size_t> min_new_tokens, const GenerationConfig& folder,
                         std::size_t read) {
  const std::size_t written = min_new_tokens.value_or(folder.min_new_tokens.value_or(0));
  if (min_new_tokens || written > 0) return read + written;
  return folder.min_length.value_or(0);
}

}  // namespace glassformer
