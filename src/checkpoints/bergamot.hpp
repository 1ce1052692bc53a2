#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "checkpoints/model_folder.hpp"

namespace glassformer {

/// The files of a translator of Firefox's, by their names.
struct BergamotFiles {
  std::string model;           ///< "model.ende.intgemm.alphas.bin"
  std::string source, target;  ///< "vocab.ende.spm", or "srcvocab…" and "trgvocab…"; one: no target
  std::string shortlist;       ///< "lex.50.50.ende.s2t.bin"; empty: there is none
  std::string source_language = "und", target_language = "und";
};

/// None where the folder's files are not such. Throws `unsupported` where they are packed, and
/// `missing_file` or `unsupported` where it has too few or too many, with the cure.
std::optional<BergamotFiles> find_bergamot(ModelFiles& files);

/// The configuration in such a file as JSON: what is in a list is a field "KEY.0". Throws
/// `invalid_config` for what is not "key: value" or a list.
std::string bergamot_json(std::string_view yaml);

}  // namespace glassformer
