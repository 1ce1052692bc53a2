#include "layers/attention/linked_mixers.hpp"
#include "linked.hpp"

// A program with the models that read texts.

namespace glassformer {

std::unique_ptr<TokenMixer> (*const make_recurrent_mixer)(std::size_t, Compute) = nullptr;

bool links_readers() { return true; }
bool links_writers() { return false; }

}  // namespace glassformer
