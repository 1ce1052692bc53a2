#pragma once

#include <array>
#include <csignal>

namespace glassformer {

/// While it exists, the signals that end a program are only noted.
class StopSignals {
 public:
  StopSignals() {
    came_ = 0;
    for (std::size_t i = 0; i < signals.size(); ++i) before_[i] = std::signal(signals[i], note);
  }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals() {
    for (std::size_t i = 0; i < signals.size(); ++i) std::signal(signals[i], before_[i]);
  }
  bool came() const { return came_ != 0; }

 private:
  static constexpr std::array signals = {SIGINT, SIGTERM};
  static void note(int) { came_ = 1; }
  static inline volatile std::sig_atomic_t came_ = 0;

  std::array<void (*)(int), signals.size()> before_;
};

}  // namespace glassformer
