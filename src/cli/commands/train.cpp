#include <chrono>
#include <filesystem>
#include <iostream>
#include <optional>

#include "base/json/json_writer.hpp"
#include "base/strings/printable.hpp"
#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/files/manifest.hpp"
#include "cli/files/new_files.hpp"
#include "cli/training_log.hpp"
#include "models/initialize.hpp"
#include "tasks/load.hpp"
#include "tasks/train/training.hpp"
#include "weights/safetensors.hpp"

namespace glassformer {
namespace {

constexpr FileLimit data_limit = {"the file of examples", ErrorCode::too_large,
                                  std::uint64_t{4} << 30};

class TrainCommand final : public Command {
 public:
  void declare(CLI::App& app) override;
  Exit run() override;

 private:
  TrainingStart start() const;
  void learn(Training& training);
  void report(Training& training, const StepResult& result, double progress);
  void save(Training& training) const;
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }

  std::filesystem::path model_, data_, folder_;
  std::optional<double> minutes_;
  TrainingOptions options_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::unique_ptr<TrainingLog> log_;
};

void TrainCommand::declare(CLI::App& app) {
  app.add_option("MODEL", model_,
                 "a model folder that learns further, or the config.json of a new model, whose "
                 "missing fields are those of a small Transformer")
      ->required();
  app.add_option("DATA", data_, "examples, a line each: LABEL<TAB>TEXT")->required();
  app.add_option("OUT_DIR", folder_, "folder to write")->required();
  CLI::Option* const minutes =
      app.add_option("--minutes", minutes_, "how long to learn")->check(CLI::PositiveNumber);
  app.add_option("--epochs", options_.epochs, "how often to read every example (10)")
      ->check(CLI::PositiveNumber)
      ->excludes(minutes);
  add_threads(app, options_.threads);
  app.add_option("--seed", options_.seed, "seed of all random numbers (1)");
  app.add_option("--rate", options_.rate, "highest learning rate (0.002; of a folder 0.0002)")
      ->check(CLI::PositiveNumber);
  app.add_option("--warm-up", options_.warm_up,
                 "share of the training in which the rate rises (0.05)")
      ->check(CLI::Range(0.0, 1.0));
  add_enum<Decay>(app, "--decay", options_.decay, "how the rate falls then (linear)");
  add_enum<OptimizerKind>(app, "--optimizer", options_.optimizer, "how weights change (adamw)");
  app.add_option("--weight-decay", options_.weight_decay, "decay of weights (0.01)");
  app.add_option("--dropout", options_.dropout, "share of numbers set to zero (0.1)")
      ->check(CLI::Range(0.0, 0.9));
  app.add_option("--smoothing", options_.smoothing, "label smoothing (0.1)")
      ->check(CLI::Range(0.0, 0.9));
  app.add_option("--averaging", options_.averaging,
                 "decay of the moving average of the weights, which is saved (0.998)")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--drop-tokens", options_.dropped_tokens,
                 "share of a text's tokens left out at random (0)")
      ->check(CLI::Range(0.0, 0.9));
  app.add_option("--batch-tokens", options_.batch_tokens, "tokens per step (by the data)")
      ->check(CLI::PositiveNumber);
  app.add_option("--shard-tokens", options_.shard_tokens,
                 "tokens of a step that a thread reads at once (256 to 1024)")
      ->check(CLI::PositiveNumber);
  app.add_option("--vocabulary", options_.vocabulary, "pieces of a new tokenizer (by the data)")
      ->check(CLI::PositiveNumber);
  app.add_option("--held-out", options_.held_out,
                 "share of the examples that measure progress (0.05, up to 2000 examples)")
      ->check(CLI::Range(0.0, 0.9));
}

TrainingStart TrainCommand::start() const {
  TrainingStart start;
  if (!std::filesystem::is_directory(model_)) {
    start.config = read_file(model_, config_limit);
    return start;
  }
  OpenFolder open(model_);
  start.known = open.config;
  start.model = make_model(open.config.architecture);
  open.load(parameters(*start.model));
  start.tokenizer = open.folder.take_tokenizer();
  return start;
}

Exit TrainCommand::run() {
  const std::string data = read_file(data_, data_limit);
  Training training(start(), data, options_);
  std::cerr << "glassformer: " << training.examples() << " examples and " << training.held_out()
            << " held out, " << training.trainer().parameters().count() << " parameters\n";
  log_ = std::make_unique<TrainingLog>(folder_);
  learn(training);
  save(training);
  return Exit::ok;
}

void TrainCommand::learn(Training& training) {
  began_ = std::chrono::steady_clock::now();
  for (double progress = 0; progress < 1;) {
    const auto steps = static_cast<double>(training.trainer().progress().step + 1);
    progress =
        minutes_ ? seconds() / 60 / *minutes_ : steps / static_cast<double>(training.steps());
    log_->add(training.step(progress), training.trainer().progress(), progress, seconds());
    if (log_->due()) {
      const LossSum held_out = training.validate();
      log_->validated(held_out, seconds());
    }
  }
}

void TrainCommand::save(Training& training) const {
  std::vector<std::string> described = {"config.json", "model.safetensors"};
  if (!training.tokenizer_file().empty()) described.push_back("tokenizer.model");
  std::vector<std::string> vocabularies;
  if (std::filesystem::is_directory(model_)) vocabularies = vocabulary_files_of(model_);
  described.insert(described.end(), vocabularies.begin(), vocabularies.end());
  std::vector<std::string> names = described;
  names.push_back(manifest_file);
  NewFiles files(folder_, names);
  training.trainer().with_average([&] {
    std::vector<NamedTensor> tensors;
    for (const LearnedParameters::Part& part : training.trainer().parameters().parts()) {
      tensors.push_back({part.name, DType::f32, part.shape, std::as_bytes(part.value)});
    }
    const std::vector<std::byte> bytes = write_safetensors(tensors);
    OutputFile weights(files.path("model.safetensors"));
    weights.write(0, bytes);
    weights.close();
  });
  files.write("config.json", to_json(training.config()));
  if (const auto file = training.tokenizer_file(); !file.empty()) {
    files.write("tokenizer.model", {reinterpret_cast<const char*>(file.data()), file.size()});
  }
  for (const std::string& name : vocabularies) files.copy(name, model_ / name);
  files.write_manifest(described);
  files.publish();
  std::cerr << "glassformer: wrote " << printable(folder_.string()) << '\n';
}

}  // namespace

std::unique_ptr<Command> make_train_command() { return std::make_unique<TrainCommand>(); }

}  // namespace glassformer
