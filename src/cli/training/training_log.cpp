#include "cli/training/training_log.hpp"

#include <unistd.h>

#include <cerrno>
#include <iomanip>
#include <iostream>
#include <system_error>

#include "base/json/json.hpp"
#include "base/json/json_writer.hpp"
#include "base/strings/printable.hpp"

namespace glassformer {
namespace {

constexpr double lines = 20;  // in a whole training
constexpr int bar = 30;       // characters
constexpr JsonSource log_source = {ErrorCode::invalid_data, "log.jsonl"};

}  // namespace

TrainingLog::TrainingLog(const std::filesystem::path& folder, bool continues)
    : path_(folder.string() + ".log.jsonl"),
      terminal_(isatty(STDERR_FILENO) != 0),
      next_(1 / lines) {
  if (continues) read();
  file_.open(path_, continues ? std::ios::app : std::ios::trunc);
  expect_written();
}

void TrainingLog::expect_written() {
  if (file_ || failed_) return;
  failed_ = true;
  std::cerr << "glassformer: warning: " << printable(path_.string())
            << ": cannot be written: " << std::generic_category().message(errno) << '\n';
}

void TrainingLog::read() {
  std::ifstream file(path_);
  std::uintmax_t whole = 0;  // bytes
  for (std::string line; std::getline(file, line); whole += line.size() + 1) {
    if (file.eof()) {  // its end was not written, because the disk was full
      std::filesystem::resize_file(path_, whole);
      break;
    }
    JsonObject point(parse_json(line, log_source), log_source);
    const auto optional = [&point](const char* name) -> std::optional<double> {
      const JsonValue* const value = present(point.find(name));
      if (!value) return {};
      return point.number(name, *value);
    };
    points_.push_back({.step = static_cast<std::uint64_t>(point.number("step")),
                       .loss = point.number("loss"),
                       .accuracy = point.number("accuracy"),
                       .held_out_loss = optional("held_out_loss"),
                       .held_out_accuracy = optional("held_out_accuracy")});
  }
}

void TrainingLog::add(const StepResult& result, const TrainingProgress& progress, double share,
                      double seconds) {
  loss_ += result.loss;
  tokens_ += result.tokens;
  last_ = result;
  progress_ = progress;
  share_ = std::min(share, 1.0);
  now_ = seconds;
  if (terminal_) show();
}

void TrainingLog::show() const {
  const auto done = static_cast<std::size_t>(share_ * bar);
  const double rate = static_cast<double>(tokens_) / std::max(now_ - began_, 1e-9);
  std::cerr << "\r[" << std::string(done, '#') << std::string(bar - done, '.') << "] " << std::fixed
            << std::setprecision(1) << 100 * share_ << " % step " << progress_.step
            << std::setprecision(0) << ", " << rate << " tokens/s" << std::setprecision(3)
            << ", loss " << loss_.mean();
  if (held_out_.count > 0) {
    std::cerr << ", held out " << held_out_.mean() << ", " << std::setprecision(1)
              << 100 * held_out_.accuracy() << " % right";
  }
  std::cerr << std::flush;
}

void TrainingLog::validated(const LossSum& held_out, double now) {
  held_out_ = held_out;
  const double seconds = std::max(now_ - began_, 1e-9);
  JsonWriter json;
  json.object([&] {
    json.field("step", progress_.step);
    json.field("epoch", progress_.epoch);
    json.field("tokens", progress_.tokens);
    json.field("seconds", static_cast<float>(now_));
    json.field("tokens_per_second", static_cast<float>(static_cast<double>(tokens_) / seconds));
    json.field("rate", last_.rate);
    json.field("gradient_norm", last_.gradient_norm);
    json.field("loss", static_cast<float>(loss_.mean()));
    json.field("accuracy", static_cast<float>(loss_.accuracy()));
    if (held_out.count > 0) {
      json.field("held_out_loss", static_cast<float>(held_out.mean()));
      json.field("held_out_accuracy", static_cast<float>(held_out.accuracy()));
    }
  });
  points_.push_back({.step = progress_.step, .loss = loss_.mean(), .accuracy = loss_.accuracy()});
  if (held_out.count > 0) {
    points_.back().held_out_loss = held_out.mean();
    points_.back().held_out_accuracy = held_out.accuracy();
  }
  const std::string line = json.take();
  file_ << line << std::endl;
  expect_written();
  if (terminal_) {
    show();
  } else {
    std::cerr << line << '\n';
  }
  loss_ = {};
  tokens_ = 0;
  next_time_ = now + 10 * (now - now_);
  began_ = now;
  while (next_ <= share_) next_ += 1 / lines;
}

}  // namespace glassformer
