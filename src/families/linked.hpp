#pragma once

#include <optional>
#include <span>
#include <string>

#include "families/config/config_fields.hpp"
#include "families/config/model_config.hpp"
#include "families/family.hpp"

// The kinds of models that a program is linked with. The package has a small binary for models that
// read texts and one with everything. The build links one of the files in src/linked, which define
// these tables; an entry that a program lacks is null.

namespace glassformer {

/// The code that only models that write texts need.
struct WritingParts {
  /// Visits the fields of the head and of the tokens that begin and end a text.
  void (*fields)(ConfigFields& visitor, ModelConfig& config);
  /// Reads the field `generation` of our config.json, which may be absent.
  void (*read_generation)(JsonObject& config, ModelConfig& model);
  /// Completes the configuration of a published model with generation_config.json, if there is one,
  /// and with the names of the tokens that begin and end a translation.
  void (*complete)(ModelConfig& config, const std::optional<std::string>& generation,
                   const Tokenizer& target);
};

struct LinkedFamilies {
  std::span<const Family* const> families;    ///< by model_type
  std::span<const Family* const> containers;  ///< families whose weights are a TensorContainer
  const WritingParts* writing;                ///< null if only models that read texts are linked
};
extern const LinkedFamilies linked_families;

extern const WritingParts writing_parts;

/// Visits the fields of the head of a model that reads texts or pictures.
void reading_fields(ConfigFields& visitor, ModelConfig& config);

/// Thrown if the code for a folder's kind of model is not linked, as far as this can be determined.
struct NotLinked {};

/// Returns whether all kinds of models are linked.
inline bool all_linked() { return linked_families.writing != nullptr; }

}  // namespace glassformer
