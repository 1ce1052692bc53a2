#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace glassformer {

/// Whether a training may be divided among processes; not in a tab.
#ifdef __EMSCRIPTEN__
inline constexpr bool has_processes = false;
#else
inline constexpr bool has_processes = true;
#endif

/// Processes that train one model together. Each has the whole model and all examples, and computes
/// the gradients of some shards of each step.
class Processes {
 public:
  virtual ~Processes() = default;

  virtual std::size_t rank() const = 0;   ///< of this process, from 0
  virtual std::size_t count() const = 0;  ///< at least 1

  virtual void send(std::span<const std::byte> bytes, std::size_t to) = 0;
  /// Waits for as many bytes as the other process sends.
  virtual void receive(std::span<std::byte> bytes, std::size_t from) = 0;
  /// Copies the bytes of one process to all. All call this with the same size.
  virtual void broadcast(std::span<std::byte> bytes, std::size_t from) = 0;
};

/// This process alone.
class OneProcess final : public Processes {
 public:
  std::size_t rank() const override { return 0; }
  std::size_t count() const override { return 1; }
  void send(std::span<const std::byte>, std::size_t) override {}
  void receive(std::span<std::byte>, std::size_t) override {}
  void broadcast(std::span<std::byte>, std::size_t) override {}
};

/// Returns whether any process has `flag`. All call this.
bool any_of(Processes& processes, bool flag);

/// Throws `invalid_option` in every process, unless all have the same `value`. `what`: words for
/// the message.
void expect_equal(Processes& processes, std::uint64_t value, const char* what);

}  // namespace glassformer
