#pragma once

#include <span>

#include "base/option.hpp"

namespace glassformer {

/// What there is to know of a task in addition to its folder in src/tasks, said once. The tables of
/// JavaScript and Python follow from it (`glassformer schema`, tools/schema.mjs).
struct TaskFacts {
  const char* name;        ///< as on model hubs
  const char* class_name;  ///< of all languages
  const char* command;     ///< of the command line
  HelpText help;           ///< what models of the task do: "classifies texts"
  const char* opens = "";  ///< the task that its folders name, if that is another one
  bool reads = false;      ///< whether the binary for models that read texts runs them
  const char* load = "";   ///< the options of `load` that only some tasks have
  bool stepwise = false;   ///< whether an answer takes a step per token
};

/// All tasks, in the order of the documentation.
std::span<const TaskFacts> all_tasks();

}  // namespace glassformer
