#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/load_options.hpp"
#include "api/tasks/explain.hpp"
#include "base/fields.hpp"
#include "cli/files/patch_file.hpp"
#include "run/trace/trace.hpp"

// Arguments that several commands share. Each function declares one and binds it to a variable,
// which must outlive the app.

namespace glassformer {

/// A model folder, and how its model runs.
struct ModelArguments {
  std::filesystem::path folder;
  std::optional<Compute> compute = {};  ///< unset: as stored
  std::size_t threads = 0;              ///< 0: as many as the machine runs at the same time

  LoadOptions options() const { return {.compute = compute, .threads = threads}; }
};

/// The arguments of every command that answers lines with a task.
struct TaskArguments {
  ModelArguments model;
  bool json = false;
  bool quiet = false;
  PatchFile patch = {};
};

void add_model(CLI::App& app, std::filesystem::path& folder);
void add_compute(CLI::App& app, std::optional<Compute>& compute);
/// Declares --weights: 8 or 4 bits.
CLI::Option* add_bits(CLI::App& app, Compute& compute);
void add_threads(CLI::App& app, std::size_t& threads);
/// Declares --patch, --patch-tokens and --patch-heads.
void add_patch(CLI::App& app, PatchFile& patch);
/// Declares --json.
CLI::Option* add_json(CLI::App& app, bool& json);
/// Declares --quiet.
void add_quiet(CLI::App& app, bool& quiet);
/// Declares --pairs.
void add_pairs(CLI::App& app, bool& pairs);
/// --patch, --compute and --threads.
void add_run(CLI::App& app, TaskArguments& task);
/// Declares an option that takes one of several names.
CLI::Option* add_name(CLI::App& app, const std::string& name, std::vector<std::string> names,
                      std::function<void(std::size_t)> choose, const std::string& help);

/// Declares an option that takes one of the names in enum_names<Enum>. `Target` is an Enum or an
/// optional one.
template <class Enum, class Target>
void add_enum(CLI::App& app, const std::string& name, Target& target, const std::string& help) {
  const auto& names = enum_names<Enum>;
  add_name(
      app, name, {names.begin(), names.end()},
      [&target](std::size_t chosen) { target = static_cast<Enum>(chosen); }, help);
}

}  // namespace glassformer
