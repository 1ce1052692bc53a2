#include "cli/lines.hpp"

#include <unistd.h>

#include "base/strings/printable.hpp"
#include "base/strings/utf8.hpp"

namespace glassformer {

void say_who_writes() {
  static bool said = false;
  if (said || isatty(STDIN_FILENO) == 0) return;
  said = true;
  std::cerr << "glassformer: type a line, and Enter; Ctrl-D ends\n";
}

LineProgress::LineProgress()
    : wanted_(isatty(STDERR_FILENO) != 0 && isatty(STDOUT_FILENO) == 0 &&
              isatty(STDIN_FILENO) == 0),
      last_(std::chrono::steady_clock::now()) {}

LineProgress::~LineProgress() { clear(); }

void LineProgress::reach(std::size_t lines) {
  const auto now = std::chrono::steady_clock::now();
  if (!wanted_ || now - last_ < std::chrono::seconds(1)) return;
  last_ = now;
  shown_ = true;
  std::cerr << "\rglassformer: " << lines << " lines" << std::flush;
}

void LineProgress::clear() {
  if (shown_) std::cerr << "\r\x1b[K" << std::flush;
  shown_ = false;
}

std::string unused_head_note(const ModelConfig& config) {
  return "config.json names " + printable(config.unused_head) +
         ", whose head is not run: the model makes vectors (feature-extraction)";
}

void expect_utf8(std::string_view line) {
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t size = valid_character_size(line.substr(at));
    if (size == 0) {
      constexpr std::string_view digits = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(line[at]);
      throw_error(ErrorCode::invalid_option, {"expected UTF-8, got the byte 0x{}{} at byte {}",
                                              {digits[byte >> 4], digits[byte & 15], at + 1}});
    }
    at += size;
  }
}

void LinePrinter::write(const OutputLines& outputs) {
  for (const auto& output : outputs) {
    ++number_;
    std::visit([this](const auto& part) { write(part); }, output);
  }
  std::cout.flush();
  progress_.reach(number_);
}

void LinePrinter::write(const OutputLine& line) {
  // Only the first one is named.
  if (line.clipped && clipped_++ == 0 && !settings_.quiet) {
    progress_.clear();
    std::cerr << "glassformer: line " << number_
              << ": warning: it has more tokens than the model reads, and was cut"
              << settings_.clipped_hint << '\n';
  }
  std::cout << line.text << '\n';
}

Exit LinePrinter::exit() {
  if (clipped_ > 1 && !settings_.quiet) {
    progress_.clear();
    std::cerr << "glassformer: warning: " << clipped_ << " of " << number_
              << " lines had more tokens than the model reads, and were cut\n";
  }
  return exit_;
}

void LinePrinter::write(const Error& error) {
  const bool by_code = settings_.json || settings_.error == ErrorLine::code;
  if (by_code || error.code() != ErrorCode::empty_input) {
    exit_ = Exit::bad_input;
    progress_.clear();
    std::cerr << "glassformer: line " << number_ << ": " << error.what() << '\n';
  }
  if (settings_.json) {
    std::cout << to_json(error);
  } else if (by_code) {
    std::cout << "error\t" << to_string(error.code());
  }
  std::cout << '\n';
}

}  // namespace glassformer
