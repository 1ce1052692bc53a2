#include "layers/attention/linked_mixers.hpp"
#include "text/hub/tokenizer_files.hpp"

// What only translators have.

namespace glassformer {

std::unique_ptr<TokenMixer> (*const make_recurrent_mixer)(std::size_t,
                                                          Compute) = make_recurrent_unit;

std::unique_ptr<Tokenizer> (*const read_linked_renumbered)(const FolderFile&, TokenizerSide,
                                                           const TokenizerConfig&,
                                                           std::string_view) = read_renumbered;

}  // namespace glassformer
