#pragma once

#include <string>
#include <vector>

#include "models/dictionary/dictionary.hpp"
#include "models/model.hpp"
#include "tasks/train/new_file.hpp"
#include "tasks/train/training_options.hpp"
#include "text/tokenizer.hpp"
#include "train/dictionary/dictionary_report.hpp"

namespace glassformer {

/// Returns the dictionaries that the options ask for. Throws `invalid_option` if no layer has the
/// name of the option `at`.
std::vector<DictionaryConfig> dictionary_configs(const Architecture& architecture,
                                                 const std::vector<NamedParameter>& parameters,
                                                 const TrainingOptions& options);

/// Returns the files of a folder that say what dictionaries are worth: report.json; features-0.json
/// and so on, one for each dictionary; and texts.json with the texts that these quote. `tokenizer`:
/// of what the dictionaries' stacks read; null for pictures.
std::vector<NewFile> report_files(const DictionaryReport& report, const DictionarySet& dictionaries,
                                  const Model& model, const Tokenizer* tokenizer);

}  // namespace glassformer
