#pragma once

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "cli/training/training_log.hpp"

namespace glassformer {

/// The contents of a model card that a training writes. It must have a point.
struct TrainingCard {
  std::string name;   ///< of the model folder
  std::string task;   ///< "text-classification"
  std::string start;  ///< the folder or the config.json that it began with
  std::string data;   ///< the file of examples
  std::string unit;   ///< what is right or wrong: "texts"
  std::size_t examples = 0, held_out = 0, parameters = 0;
  std::uint64_t tokens = 0;  ///< read while it learned
  double seconds = 0;
  std::vector<TrainingPoint> points;
  std::vector<std::pair<std::string, std::string>> options;  ///< names and values
  std::string curves_file;                                   ///< in the same folder
};

/// Returns the card as Markdown.
std::string to_markdown(const TrainingCard& card);

/// Returns a number with commas: 1,817,602.
std::string grouped(std::uint64_t number);
/// Returns a name in a table or a sentence, as code.
std::string code(const std::string& name);
/// Adds a row for each option.
void add_options(std::ostream& text, const TrainingCard& card);

}  // namespace glassformer
