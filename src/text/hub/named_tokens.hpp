#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/hub/tokenizer_config.hpp"

namespace glassformer {

/// Returns the special tokens that have names, such as "bos_token" and "image_token", with their
/// texts: those of the files, and those of the tokenizer's class where the files define none.
/// `usual_class`: the class if the files name none.
std::vector<std::pair<std::string, std::string>> named_tokens(const TokenizerConfig& config,
                                                              std::string_view usual_class);

}  // namespace glassformer
