#include "layers/attention/linked_mixers.hpp"
#include "layers/attention/recurrent_unit.hpp"
#include "linked.hpp"

// A program with the models that write texts.

namespace glassformer {

std::unique_ptr<TokenMixer> (*const make_recurrent_mixer)(std::size_t, Compute) =
    [](std::size_t d_model, Compute compute) -> std::unique_ptr<TokenMixer> {
  return std::make_unique<RecurrentUnit>(d_model, compute);
};

bool links_readers() { return false; }
bool links_writers() { return true; }

}  // namespace glassformer
