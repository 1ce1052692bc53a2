#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>

#include "base/json/json.hpp"
#include "base/spelling.hpp"
#include "base/strings/decimal.hpp"
#include "base/strings/printable.hpp"
#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/files/manifest.hpp"
#include "cli/files/new_files.hpp"
#include "cli/flags.hpp"
#include "cli/stop_signals.hpp"
#include "cli/training/curves.hpp"
#include "cli/training/dictionary_card.hpp"
#include "cli/training/mpi.hpp"
#include "cli/training/training_card.hpp"
#include "cli/training/training_log.hpp"
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
    case Lessons::dictionary:
      return "variance";
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

// Lists the options that a model was trained with, but not those that changed nothing.
class OptionsOfCard {
 public:
  OptionsOfCard(TrainingCard& card, Lessons lessons) : card_(card), lessons_(lessons) {}

  template <class Value>
  void operator()(const char* name, const Value& value, const Option& = {}) {
    const std::string_view option = name;
    if (lessons_ == Lessons::dictionary && is_of_models(option)) return;
    if (option == "threads" || (option == "drop_tokens" && lessons_ != Lessons::classes) ||
        (option == "distortion" && lessons_ != Lessons::pictures)) {
      return;
    }
    if constexpr (requires { value.has_value(); }) {
      if (value) add(name, text_of(*value));
    } else if constexpr (std::same_as<Value, bool>) {
      if (value) add(name, "yes");
    } else {
      add(name, text_of(value));
    }
  }

  void add(const char* name, std::string text) {
    card_.options.emplace_back(spelled(name, Spelling::flag), std::move(text));
  }

 private:
  // Options that change nothing for dictionaries.
  static bool is_of_models(std::string_view option) {
    constexpr std::array<std::string_view, 6> names = {"optimizer", "weight_decay", "dropout",
                                                       "smoothing", "averaging",    "keep_case"};
    return std::ranges::find(names, option) != names.end();
  }

  static std::string text_of(float number) { return shortest_decimal(number); }
  static std::string text_of(std::uint64_t number) { return std::to_string(number); }
  static std::string text_of(const std::string& text) { return text; }
  template <class Enum>
  requires std::is_enum_v<Enum>
  static std::string text_of(Enum value) { return name_of(value); }

  TrainingCard& card_;
  Lessons lessons_;
};

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
  void expect_space(Training& training) const;
  // Whether this process, of those that train together, writes files and messages.
  bool leads() const { return processes_->rank() == 0; }
  void save(Training& training) const;
  std::vector<Example> quoted_texts() const;
  // The name of the first argument, without its path, which tells nothing to others.
  std::string name_of_start() const {
    const std::filesystem::path model = std::filesystem::absolute(model_).lexically_normal();
    return (model.has_filename() ? model : model.parent_path()).filename().string();
  }
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
  std::filesystem::path texts_;
  bool resume_ = false, half_ = false;
  double before_ = 0;
  TrainingOptions options_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::unique_ptr<TrainingLog> log_;
};

void TrainCommand::declare(CLI::App& app) {
  app.add_option(
         "MODEL", model_,
         "A model folder that learns further, or the config.json of a new model. Fields that "
         "it lacks are those of a small Transformer.")
      ->required();
  app.add_option(
         "DATA", data_,
         "The file of examples, one per line. Classifiers: LABEL<TAB>TEXT, or "
         "LABEL<TAB>TEXT<TAB>TEXT for pairs. Translators: TEXT<TAB>TRANSLATION. Writers and masked "
         "tokens: TEXT. Labels of words: WORD<TAB>LABEL, with an empty line between sentences. "
         "Pictures: IMAGES,LABELS, two files in the format IDX, as MNIST's; labels may also be "
         "lines.")
      ->required();
  app.add_option("OUT_DIR", folder_, "The folder to write.")->required();
  CLI::Option* const minutes =
      app.add_option("--minutes", minutes_, "How long to learn, instead of a number of epochs.")
          ->check(CLI::PositiveNumber)
          ->check(finite());
  app.add_flag("--resume", resume_,
               "Go on from OUT_DIR.checkpoint, with the same data and options.");
  add_flags(app, options_);
  minutes->excludes(app.get_option("--epochs"));
  app.add_flag("--half", half_, "Save the weights at half precision (F16).");
  app.add_option("--texts", texts_,
                 "For dictionaries: a file like DATA, whose texts the features quote. (default: "
                 "the examples that are held out)");
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
  const bool dictionaries = options_.lessons == Lessons::dictionary;
  if (half_ && dictionaries) {
    refuse_option("half", "expected none for dictionaries, which have 8-bit integers");
  }
  if (!texts_.empty() && !dictionaries) {
    refuse_option("texts", "expected it only with the lessons \"dictionary\"");
  }
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
  before_ = training.learner().progress().seconds;
  if (!leads()) {
    return learn(training) ? Exit::ok : Exit::bad_input;
  }
  expect_space(training);
  std::cerr << "glassformer: " << training.examples() << " examples, " << training.held_out()
            << " more to measure, " << training.learner().count() << " parameters\n";
  show_labels(training.labels());
  for (const std::string& warning : training.warnings()) warn(warning);
  if (resume_) {
    std::cerr << "glassformer: goes on after step " << training.learner().progress().step << '\n';
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
  training.learner().restore(std::as_bytes(std::span(bytes)));
}

void TrainCommand::expect_equal_processes(Training& training) const {
  expect_equal(*processes_, training.learner().progress().fingerprint, "examples and options");
  // Another instruction set adds in another order, so that the weights would drift apart.
  expect_equal(*processes_, std::hash<std::string_view>()(kernels().name), "instruction set");
}

// A training of days should not find out at its end that the disk is full.
void TrainCommand::expect_space(Training& training) const {
  const std::filesystem::path parent = folder_.has_parent_path() ? folder_.parent_path() : ".";
  std::error_code unknown;
  const std::filesystem::space_info disk = std::filesystem::space(parent, unknown);
  if (unknown || disk.capacity == 0) return;  // some file systems do not tell
  const std::uint64_t weights =
      training.learner().count() * size_of(half_ ? DType::f16 : DType::f32);
  const std::uint64_t needed = training.learner().checkpoint_size() + weights;
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
  training.learner().set_seconds(seconds());
  const std::filesystem::path unfinished = unfinished_checkpoint();
  const std::vector<std::byte> bytes = training.learner().checkpoint();
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
      minutes_ ? before_ >= 60 * *minutes_ : training.learner().progress().step >= training.steps();
  if (resume_ && over) {
    if (leads() && log_->points().empty()) log_->validated(training.validate(), seconds());
    return true;
  }
  for (double progress = 0; progress < 1;) {
    const auto steps = static_cast<double>(training.learner().progress().step + 1);
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
    log_->add(result, training.learner().progress(), progress, seconds());
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
  const bool dictionaries = training.options().lessons == Lessons::dictionary;
  const std::vector<Example> quoted = quoted_texts();
  const std::vector<NewFile> made = training.files(half_ ? DType::f16 : DType::f32, quoted);
  std::vector<std::string> described;
  for (const NewFile& file : made) described.push_back(file.name);
  std::vector<std::string> vocabularies;
  if (!dictionaries && std::filesystem::is_directory(model_)) {
    vocabularies = vocabulary_files_of(model_);
  }
  described.insert(described.end(), vocabularies.begin(), vocabularies.end());
  std::vector<std::string> names = described;
  names.insert(names.end(), {manifest_file, card_file, curves_file});
  NewFiles files(folder_, names);
  for (const NewFile& file : made) files.write(file.name, file.bytes);
  for (const std::string& name : vocabularies) files.copy(name, model_ / name);
  files.write_manifest(described);
  const TrainingCard card = this->card(training);
  if (dictionaries) {
    files.write(card_file, dictionary_card(card, training.report(), training.dictionaries()));
  } else {
    files.write(card_file, to_markdown(card));
  }
  files.write(curves_file, draw_curves(card.points, card.unit));
  files.publish();
  std::cerr << "glassformer: wrote " << printable(folder_.string()) << '\n';
}

std::vector<Example> TrainCommand::quoted_texts() const {
  if (texts_.empty()) return {};
  TrainingOptions options = options_;
  return make_training_setup(start(), read_file(texts_, data_limit), options).examples;
}

TrainingCard TrainCommand::card(Training& training) const {
  const TrainingProgress& progress = training.learner().progress();
  TrainingCard card = {.name = folder_.filename().string(),
                       .task = name_of(training.config().task),
                       .start = name_of_start(),
                       .data = data_.filename().string(),
                       .unit = right_or_wrong(*training.options().lessons),
                       .examples = training.examples(),
                       .held_out = training.held_out(),
                       .parameters = training.learner().count(),
                       .tokens = progress.tokens,
                       .seconds = seconds(),
                       .points = log_->points(),
                       .options = {},
                       .curves_file = curves_file};
  TrainingOptions options = training.options();
  if (minutes_) options.epochs.reset();
  if (training.tokenizer_file().empty()) {
    options.vocabulary.reset();
    options.keep_case = false;
  } else {
    options.vocabulary = training.tokenizer().size();
  }
  OptionsOfCard list(card, *options.lessons);
  if (minutes_) list.add("minutes", shortest_decimal(static_cast<float>(*minutes_)));
  fields(list, options);
  return card;
}

}  // namespace

std::unique_ptr<Command> make_train_command() { return std::make_unique<TrainCommand>(); }

}  // namespace glassformer
