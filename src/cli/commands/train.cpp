#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>

#include "base/json/json.hpp"
#include "base/strings/decimal.hpp"
#include "base/strings/printable.hpp"
#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/files/manifest.hpp"
#include "cli/files/new_files.hpp"
#include "cli/stop_signals.hpp"
#include "cli/training/curves.hpp"
#include "cli/training/mpi.hpp"
#include "cli/training/training_card.hpp"
#include "cli/training/training_log.hpp"
#include "kernels/pool.hpp"
#include "tasks/load.hpp"
#include "tasks/options.hpp"
#include "tasks/train/training.hpp"

namespace glassformer {
namespace {

constexpr FileLimit data_limit = {"the file of examples", ErrorCode::too_large,
                                  std::uint64_t{4} << 30};

constexpr FileLimit checkpoint_limit = {"the checkpoint", ErrorCode::too_large,
                                        std::uint64_t{64} << 30};
constexpr double seconds_between_checkpoints = 60;
constexpr const char *card_file = "README.md", *curves_file = "curves.svg";

const char* right_or_wrong(Lessons lessons) {
  switch (lessons) {
    case Lessons::classes:
      return "texts";
    case Lessons::pictures:
      return "pictures";
    case Lessons::token_classes:
      return "words";
    case Lessons::masked:
      return "hidden tokens";
    case Lessons::next_token:
    case Lessons::translation:
      return "next tokens";
  }
  return "";
}

// CLI11's own checks let NaN pass.
CLI::Validator finite() {
  const auto problem = [](const std::string& given) {
    const bool good = std::isfinite(std::strtod(given.c_str(), nullptr));
    return good ? std::string() : "expected a finite number, got " + given;
  };
  return {problem, "", "finite"};
}

void warn(const std::string& text) { std::cerr << "glassformer: warning: " << text << '\n'; }

void show_labels(const std::vector<LabelCount>& labels) {
  constexpr std::size_t most = 20;
  const std::size_t shown = std::min(labels.size(), most);
  for (const LabelCount& each : std::span(labels).first(shown)) {
    std::cerr << "  " << describe(each.label) << ": " << each.count;
    if (!each.example.empty()) std::cerr << ", such as " << describe(each.example);
    std::cerr << '\n';
  }
  if (labels.size() > shown) std::cerr << "  and " << labels.size() - shown << " more\n";
}

class TrainCommand final : public Command {
 public:
  void declare(CLI::App& app) override;
  Exit run() override;

 private:
  TrainingStart start() const;
  std::string read_data_files() const;
  // Returns whether the training came to its end.
  bool learn(Training& training);
  void resume(Training& training) const;
  void keep(Training& training) const;
  // Returns false, and says why, if it cannot be written.
  bool try_to_keep(Training& training) const;
  void expect_equal_processes(Training& training) const;
  void expect_room(Training& training) const;
  // Whether this process, of those that train together, writes files and messages.
  bool leads() const { return processes_->rank() == 0; }
  void save(Training& training) const;
  TrainingCard card(Training& training) const;
  // How long the training has run, with the runs before this.
  double seconds() const {
    return before_ +
           std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }
  std::filesystem::path checkpoint() const { return folder_.string() + ".checkpoint"; }
  std::filesystem::path unfinished_checkpoint() const { return checkpoint().string() + ".new"; }

  std::unique_ptr<Processes> processes_;  // that train together
  std::filesystem::path model_, data_, folder_;
  std::optional<double> minutes_;
  bool resume_ = false, half_ = false;
  double before_ = 0;
  TrainingOptions options_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::unique_ptr<TrainingLog> log_;
};

void TrainCommand::declare(CLI::App& app) {
  app.add_option("MODEL", model_,
                 "a model folder that learns further, or the config.json of a new model, whose "
                 "missing fields are those of a small Transformer")
      ->required();
  app.add_option(
         "DATA", data_,
         "examples, a line each: LABEL<TAB>TEXT, or LABEL<TAB>TEXT<TAB>TEXT for pairs; for "
         "translators TEXT<TAB>TRANSLATION, for writers "
         "and hidden tokens TEXT; for names in texts a line per word, WORD<TAB>LABEL, and an empty "
         "line between sentences; for pictures IMAGES,LABELS: two files in MNIST's format IDX, or "
         "labels as lines")
      ->required();
  app.add_option("OUT_DIR", folder_, "folder to write")->required();
  CLI::Option* const minutes = app.add_option("--minutes", minutes_, "how long to learn")
                                   ->check(CLI::PositiveNumber)
                                   ->check(finite());
  app.add_option("--epochs", options_.epochs, "how often to read every example (10)")
      ->check(CLI::PositiveNumber)
      ->excludes(minutes);
  app.add_flag("--resume", resume_,
               "go on from OUT_DIR.checkpoint, with the same data and options");
  add_enum<Lessons>(app, "--lessons", options_.lessons, "what to learn (by the model's task)");
  app.add_option("--threads", options_.threads, "threads that learn, each with memory of its own")
      ->check(CLI::Range(std::size_t{1}, Pool::most))
      ->capture_default_str();
  app.add_option("--from", options_.from,
                 "language of the texts, for a translator of many languages (by the folder)");
  app.add_option("--to", options_.to, "language of their translations (by the folder)");
  app.add_flag("--half", half_, "save the weights at half precision (F16)");
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
  app.add_option("--distortion", options_.distortion,
                 "how strongly pictures are turned, scaled and moved at random; 0: not at all (1)")
      ->check(CLI::Range(0.0, 4.0));
  app.add_option("--batch-tokens", options_.batch_tokens, "tokens per step (by the data)")
      ->check(CLI::PositiveNumber);
  app.add_option("--shard-tokens", options_.shard_tokens,
                 "tokens of a step that a thread reads at once (256 to 1024)")
      ->check(CLI::PositiveNumber);
  app.add_option("--vocabulary", options_.vocabulary, "pieces of a new tokenizer (by the data)")
      ->check(CLI::PositiveNumber);
  app.add_flag("--keep-case{false}", options_.lower_case,
               "a new tokenizer distinguishes capital letters");
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
  start.target_tokenizer = open.folder.take_target_tokenizer();
  return start;
}

// Returns the file of examples, or those of pictures and of their labels, one after the other.
std::string TrainCommand::read_data_files() const {
  const std::string path = data_.string();
  const std::size_t comma = path.rfind(',');
  if (comma == std::string::npos || std::filesystem::exists(data_)) {
    return read_file(data_, data_limit);
  }
  return read_file(path.substr(0, comma), data_limit) +
         read_file(path.substr(comma + 1), data_limit);
}

Exit TrainCommand::run() {
  if (!folder_.has_filename()) folder_ = folder_.parent_path();  // "folder/"
  if (std::filesystem::exists(folder_ / "config.json")) {
    throw std::runtime_error(printable(folder_.string()) + ": there is a model already");
  }
  for (const char* const name : {card_file, curves_file}) {
    if (std::filesystem::exists(folder_ / name)) {
      throw std::runtime_error(printable((folder_ / name).string()) + ": the file exists already");
    }
  }
  if (std::filesystem::exists(folder_) && !std::filesystem::is_directory(folder_)) {
    throw std::runtime_error(printable(folder_.string()) + ": expected a folder, got a file");
  }
  check_ranges(options_);  // before anything is read or written
  processes_ = join_processes();
  options_.processes = processes_.get();
  std::optional<FileLock> lock;  // on what is written there, before anything is learned
  if (leads()) {
    if (folder_.has_parent_path()) std::filesystem::create_directories(folder_.parent_path());
    lock.emplace(folder_.string() + ".lock");
    std::filesystem::remove(unfinished_checkpoint());  // of a killed process
  }
  const std::string data = read_data_files();
  Training training(start(), data, options_);
  expect_equal_processes(training);
  if (resume_) resume(training);
  before_ = training.trainer().progress().seconds;
  if (!leads()) {
    return learn(training) ? Exit::ok : Exit::bad_input;
  }
  expect_room(training);
  std::cerr << "glassformer: " << training.examples() << " examples, " << training.held_out()
            << " more to measure, " << training.trainer().parameters().count() << " parameters\n";
  show_labels(training.labels());
  for (const std::string& warning : training.warnings()) warn(warning);
  if (resume_) {
    std::cerr << "glassformer: goes on after step " << training.trainer().progress().step << '\n';
  }
  log_ = std::make_unique<TrainingLog>(folder_, resume_);
  if (!learn(training)) {
    std::cerr << "glassformer: stopped; the same command with --resume goes on\n";
    return Exit::bad_input;
  }
  try {
    save(training);
  } catch (const Error&) {  // there is nothing that could be saved
    throw;
  } catch (const std::exception&) {
    if (try_to_keep(training)) {
      std::cerr << "glassformer: what was learned is in " << printable(checkpoint().string())
                << "; the same command with --resume saves it\n";
    }
    throw;
  }
  std::filesystem::remove(checkpoint());
  return Exit::ok;
}

void TrainCommand::resume(Training& training) const {
  std::string bytes;
  if (leads()) bytes = read_file(checkpoint(), checkpoint_limit);
  std::uint64_t size = bytes.size();
  processes_->broadcast(std::as_writable_bytes(std::span(&size, 1)), 0);
  bytes.resize(static_cast<std::size_t>(size));
  processes_->broadcast(std::as_writable_bytes(std::span(bytes)), 0);
  training.trainer().restore(std::as_bytes(std::span(bytes)));
}

void TrainCommand::expect_equal_processes(Training& training) const {
  expect_equal(*processes_, training.trainer().progress().fingerprint, "examples and options");
  // Another instruction set adds in another order, so that the weights would drift apart.
  expect_equal(*processes_, std::hash<std::string_view>()(kernels().name), "instruction set");
}

// A training of days should not find out at its end that the disk is full.
void TrainCommand::expect_room(Training& training) const {
  const std::filesystem::path parent = folder_.has_parent_path() ? folder_.parent_path() : ".";
  std::error_code unknown;
  const std::filesystem::space_info disk = std::filesystem::space(parent, unknown);
  if (unknown || disk.capacity == 0) return;  // some file systems do not tell
  const std::uint64_t weights =
      training.trainer().parameters().count() * size_of(half_ ? DType::f16 : DType::f32);
  const std::uint64_t needed = training.trainer().checkpoint_size() + weights;
  std::uint64_t free = disk.available;
  if (resume_) free += std::filesystem::file_size(checkpoint());  // is replaced
  if (free >= needed) return;
  constexpr std::uint64_t megabyte = 1'000'000;
  throw std::runtime_error(printable(parent.string()) + ": expected " +
                           std::to_string((needed + megabyte - 1) / megabyte) +
                           " MB free on the disk, for a checkpoint and the weights, got " +
                           std::to_string(free / megabyte) + " MB");
}

// Writes the checkpoint under another name first, so that there is always a whole one.
void TrainCommand::keep(Training& training) const {
  training.trainer().set_seconds(seconds());
  const std::filesystem::path unfinished = unfinished_checkpoint();
  const std::vector<std::byte> bytes = training.trainer().checkpoint();
  try {
    OutputFile file(unfinished);
    file.write(0, bytes);
    file.sync();
    file.close();
    std::filesystem::rename(unfinished, checkpoint());
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(unfinished, ignored);
    throw;
  }
}

bool TrainCommand::try_to_keep(Training& training) const {
  try {
    keep(training);
  } catch (const std::runtime_error& error) {
    warn(printable(error.what()) + "; " +
         (std::filesystem::exists(checkpoint()) ? "the checkpoint before it stays"
                                                : "there is no checkpoint"));
    return false;
  }
  return true;
}

bool TrainCommand::learn(Training& training) {
  const StopSignals signals;
  began_ = std::chrono::steady_clock::now();
  double kept = seconds();
  // A training whose end was saved as a checkpoint has nothing more to learn.
  const bool over =
      minutes_ ? before_ >= 60 * *minutes_ : training.trainer().progress().step >= training.steps();
  if (resume_ && over) {
    if (leads() && log_->points().empty()) log_->validated(training.validate(), seconds());
    return true;
  }
  for (double progress = 0; progress < 1;) {
    const auto steps = static_cast<double>(training.trainer().progress().step + 1);
    progress =
        minutes_ ? seconds() / 60 / *minutes_ : steps / static_cast<double>(training.steps());
    processes_->broadcast(std::as_writable_bytes(std::span(&progress, 1)), 0);
    StepResult result;
    try {
      result = training.step(progress);
    } catch (const Error&) {
      if (leads()) try_to_keep(training);
      throw;
    }
    const bool stops = any_of(*processes_, signals.came());
    if (!leads()) {
      if (stops) return false;
      continue;
    }
    log_->add(result, training.trainer().progress(), progress, seconds());
    if (stops) {
      keep(training);
      return false;
    }
    if (progress < 1 && seconds() > kept + seconds_between_checkpoints) {
      try_to_keep(training);
      kept = seconds();
    }
    if (log_->due()) {
      const LossSum held_out = training.validate();
      log_->validated(held_out, seconds());
    }
  }
  return true;
}

void TrainCommand::save(Training& training) const {
  std::vector<std::string> described = {"config.json", "model.safetensors"};
  if (!training.tokenizer_file().empty()) described.push_back("tokenizer.model");
  const std::string steps = training.picture_steps_file();
  if (!steps.empty()) described.push_back(picture_steps_name);
  std::vector<std::string> vocabularies;
  if (std::filesystem::is_directory(model_)) vocabularies = vocabulary_files_of(model_);
  described.insert(described.end(), vocabularies.begin(), vocabularies.end());
  std::vector<std::string> names = described;
  names.insert(names.end(), {manifest_file, card_file, curves_file});
  NewFiles files(folder_, names);
  OutputFile weights(files.path("model.safetensors"));
  weights.write(0, training.weights_file(half_ ? DType::f16 : DType::f32));
  weights.close();
  files.write("config.json", training.config_file());
  if (!steps.empty()) files.write(picture_steps_name, steps);
  if (const auto file = training.tokenizer_file(); !file.empty()) {
    files.write("tokenizer.model", {reinterpret_cast<const char*>(file.data()), file.size()});
  }
  for (const std::string& name : vocabularies) files.copy(name, model_ / name);
  files.write_manifest(described);
  const TrainingCard card = this->card(training);
  files.write(card_file, to_markdown(card));
  files.write(curves_file, draw_curves(card.points, card.unit));
  files.publish();
  std::cerr << "glassformer: wrote " << printable(folder_.string()) << '\n';
}

TrainingCard TrainCommand::card(Training& training) const {
  const TrainingOptions& options = training.options();
  const TrainingProgress& progress = training.trainer().progress();
  TrainingCard card = {.name = folder_.filename().string(),
                       .task = name_of(training.config().task),
                       .start = model_.string(),
                       .data = data_.filename().string(),
                       .unit = right_or_wrong(*options.lessons),
                       .examples = training.examples(),
                       .held_out = training.held_out(),
                       .parameters = training.trainer().parameters().count(),
                       .tokens = progress.tokens,
                       .seconds = seconds(),
                       .points = log_->points(),
                       .options = {},
                       .curves_file = curves_file};
  const auto add = [&card](const char* name, const std::string& value) {
    card.options.emplace_back(name, value);
  };
  add("--lessons", name_of(*options.lessons));
  if (minutes_) {
    add("--minutes", shortest_decimal(static_cast<float>(*minutes_)));
  } else {
    add("--epochs", std::to_string(*options.epochs));
  }
  for (const auto& [name, language] : {std::pair("--from", &options.from), {"--to", &options.to}}) {
    if (*language) add(name, **language);
  }
  add("--optimizer", name_of(*options.optimizer));
  add("--rate", shortest_decimal(*options.rate));
  add("--warm-up", shortest_decimal(options.warm_up));
  add("--decay", name_of(options.decay));
  add("--weight-decay", shortest_decimal(options.weight_decay));
  add("--dropout", shortest_decimal(options.dropout));
  add("--smoothing", shortest_decimal(options.smoothing));
  add("--averaging", shortest_decimal(options.averaging));
  if (options.lessons == Lessons::classes) {
    add("--drop-tokens", shortest_decimal(options.dropped_tokens));
  }
  if (options.lessons == Lessons::pictures) {
    add("--distortion", shortest_decimal(options.distortion));
  }
  add("--batch-tokens", std::to_string(*options.batch_tokens));
  add("--shard-tokens", std::to_string(*options.shard_tokens));
  if (!training.tokenizer_file().empty()) {
    add("--vocabulary", std::to_string(training.tokenizer().size()));
    if (!options.lower_case) add("--keep-case", "yes");
  }
  if (options.held_out) add("--held-out", shortest_decimal(*options.held_out));
  add("--seed", std::to_string(options.seed));
  return card;
}

}  // namespace

std::unique_ptr<Command> make_train_command() { return std::make_unique<TrainCommand>(); }

}  // namespace glassformer
