#pragma once

#include <string>
#include <vector>

#include "cli/training/training_card.hpp"
#include "models/dictionary/dictionary.hpp"
#include "train/dictionary/dictionary_report.hpp"

namespace glassformer {

/// Returns the card of a folder of dictionaries as Markdown: what they are worth.
std::string dictionary_card(const TrainingCard& card, const DictionaryReport& report,
                            const std::vector<DictionaryConfig>& dictionaries);

}  // namespace glassformer
