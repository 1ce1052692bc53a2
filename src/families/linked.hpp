#pragma once

#include <optional>
#include <span>
#include <string>

#include "families/config/config_fields.hpp"
#include "families/config/model_config.hpp"
#include "families/family.hpp"
#include "families/folder/sentence_modules.hpp"

// The parts that a program is linked with. The package has one binary for models that read, one for
// models that write and one for both, so that users do not download unused code. The build links
// one of the files in src/linked, which define these tables.

namespace glassformer {

/// The code that only models that read texts need.
struct ReadingParts {
  /// Visits the fields of the head in our config.json.
  void (*fields)(ConfigFields& visitor, ModelConfig& config);
  /// Reads the modules of sentence-transformers.
  std::optional<SentenceModules> (*read_modules)(ModelFiles& all, ModelFiles& folder);
};

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
  const ReadingParts* reading;                ///< null if models that read are not linked
  const WritingParts* writing;                ///< null if models that write are not linked
};
extern const LinkedFamilies linked_families;

extern const ReadingParts reading_parts;
extern const WritingParts writing_parts;

/// Thrown if the code for a folder's kind of model is not linked, as far as this can be determined.
struct NotLinked {};

/// Throws NotLinked unless models of this kind are linked.
inline void expect_linked(bool writes) {
  const bool linked =
      writes ? linked_families.writing != nullptr : linked_families.reading != nullptr;
  if (!linked) throw NotLinked();
}

}  // namespace glassformer
