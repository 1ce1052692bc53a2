#pragma once

#include <optional>
#include <span>
#include <string>

#include "families/config/config_fields.hpp"
#include "families/config/model_config.hpp"
#include "families/family.hpp"
#include "families/folder/sentence_modules.hpp"

// The parts that a program is linked with. The package has a binary per kind of model and one for
// all, so that users do not download unused code. The build links one of the files in src/linked,
// which define these tables.

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
  bool continues = false;                     ///< whether models that continue a text are linked
  bool translates = false;  ///< whether models that write a text from another one are linked
};
extern const LinkedFamilies linked_families;

/// Whether models are loaded from folders, or only new ones are made.
extern const bool links_folders;

extern const ReadingParts reading_parts;
/// The same without modules of sentence-transformers, which only models of texts have, and which do
/// not learn.
extern const ReadingParts reading_parts_alone;
extern const WritingParts writing_parts;

/// Thrown if the code for a folder's kind of model is not linked, as far as this can be determined.
struct NotLinked {};

/// Throws NotLinked unless models for this task are linked.
inline void expect_linked(Task task) {
  const bool linked = !writes(task)                   ? linked_families.reading != nullptr
                      : task == Task::text_generation ? linked_families.continues
                                                      : linked_families.translates;
  if (!linked) throw NotLinked();
}

/// Throws NotLinked unless models that read texts are linked or, if this one `writes`, those.
inline void expect_linked_kind(bool writes) {
  if (writes ? !linked_families.writing : !linked_families.reading) throw NotLinked();
}

/// Whether all kinds of models are linked.
inline bool all_linked() {
  return linked_families.reading && linked_families.continues && linked_families.translates;
}

}  // namespace glassformer
