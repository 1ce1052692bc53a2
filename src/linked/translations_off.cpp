#include "layers/attention/linked_mixers.hpp"
#include "text/hub/tokenizer_files.hpp"

namespace glassformer {

std::unique_ptr<TokenMixer> (*const make_recurrent_mixer)(std::size_t, Compute) = nullptr;

std::unique_ptr<Tokenizer> (*const read_linked_renumbered)(const FolderFile&, TokenizerSide,
                                                           const TokenizerConfig&,
                                                           std::string_view) = nullptr;

}  // namespace glassformer
