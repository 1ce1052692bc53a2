#include "cli/arguments.hpp"

#include "kernels/pool.hpp"

#include <algorithm>
#include <array>
#include <functional>

namespace glassformer {
void add_model(CLI::App& app, std::filesystem::path& folder) {
  app.add_option("MODEL_DIR", folder, "The model folder.")->required();
}

void add_compute(CLI::App& app, std::optional<Compute>& compute) {
  add_name(
      app, "--compute", {"f32", "int8", "int4"},
      [&compute](std::size_t chosen) {
        compute = std::array{Compute::f32, Compute::int8, Compute::int4}[chosen];
      },
      "The arithmetic. f32: floats. int8: 8-bit integers, faster and a little less precise. int4: "
      "4-bit weights, for large models. Default: as the weights are stored.");
}

CLI::Option* add_bits(CLI::App& app, Compute& compute) {
  return add_name(
      app, "--weights", {"8", "4"},
      [&compute](std::size_t chosen) { compute = chosen == 0 ? Compute::int8 : Compute::int4; },
      "The bits of a weight. 8: with a scale per output. 4: in groups of 32 with a scale each, in "
      "attention and feed-forward blocks. Default: 8.");
}

void add_threads(CLI::App& app, std::size_t& threads) {
  app.add_option("--threads", threads,
                 "The number of threads that share the work. Default: as many as the machine runs "
                 "at the same time.")
      ->check(CLI::Range(std::size_t{1}, Pool::most));
}

void add_patch(CLI::App& app, PatchFile& patch) {
  app.add_option("--patch", patch.path,
                 "A safetensors file of tensors, by name, that replace those of the model.");
  app.add_option("--patch-tokens", patch.tokens,
                 "The rows that --patch replaces: POSITION,… Default: all.")
      ->delimiter(',');
  app.add_option("--patch-heads", patch.heads,
                 "The heads that --patch replaces: HEAD,… Default: all.")
      ->delimiter(',');
  app.add_option(
      "--steer", patch.steer,
      "A file of a direction, as steer writes it, that is added to each token's vector.");
  app.add_option("--steer-at", patch.at, "The tensor that the direction of a .npy file is for.");
  app.add_option("--scale", patch.scale, "How many times it is added. Default: 1.");
  app.add_option("--project-out", patch.project_out,
                 "A file of a direction that is removed from each token's vector.");
  app.add_option(
      "--steer-from", patch.from,
      "Change only vectors from this position on, counted from 0; from the length of the "
      "text on, those of the tokens that are written.");
}

void add_run(CLI::App& app, TaskArguments& task) {
  add_patch(app, task.patch);
  add_compute(app, task.model.compute);
  add_threads(app, task.model.threads);
}

CLI::Option* add_json(CLI::App& app, bool& json) {
  return app.add_flag("--json", json, "Print one JSON object per line.");
}

void add_quiet(CLI::App& app, bool& quiet) {
  app.add_flag("--quiet", quiet, "Print no warnings about lines that were cut.");
}

void add_pairs(CLI::App& app, bool& pairs) {
  app.add_flag("--pairs", pairs, "A line is two texts, with a tab between them.");
}

CLI::Option* add_name(CLI::App& app, const std::string& name, std::vector<std::string> names,
                      std::function<void(std::size_t)> choose, const std::string& help) {
  const auto chosen = [names, choose = std::move(choose)](const std::string& text) {
    choose(static_cast<std::size_t>(std::ranges::find(names, text) - names.begin()));
  };
  return app.add_option_function<std::string>(name, chosen, help)->check(CLI::IsMember(names));
}

}  // namespace glassformer
