#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

// A program for WebAssembly without shared memory has one thread.
#if !defined(__wasm__) || defined(__wasm_atomics__)
#define GLASSFORMER_THREADS 1
#else
#define GLASSFORMER_THREADS 0
#endif

namespace glassformer {

/// Threads that share the work of a call. Work is split by rows, heads or columns, never inside a
/// sum, so that the number of threads changes no bit of a result. A pool serves one call at a time;
/// calls that come meanwhile, from other threads, do their work alone.
class Pool {
 public:
  /// The most threads of a pool.
  static constexpr std::size_t most = 256;
  /// Multiplications of floats that take longer than sharing them: a few microseconds.
  static constexpr std::size_t least_products = std::size_t{1} << 17;

  Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();  // ends the threads

  std::size_t threads() const;
  /// Changes the number of threads, the caller's included. If the system refuses some, there are
  /// fewer. Not while the pool serves a call.
  void resize(std::size_t threads);

  /// Returns a pool of one thread.
  static Pool& single();

#if defined(__wasm_atomics__)
  /// WebAssembly cannot start threads: JavaScript does, before it resizes a pool, and each of them
  /// calls this function, which does not return, with its number, from 1. All pools of an instance
  /// share them.
  [[noreturn]] static void serve(std::size_t thread);
  /// Says that one of them has failed. The call in progress traps.
  static void lose_thread();
#endif

  /// Returns the number of parts into which to split work: several per thread, so that threads that
  /// are held up cost less.
  std::size_t parts() const { return threads() > 1 ? 2 * threads() : 1; }

  /// Calls work(i, thread) for every i below `count`, where `thread` is below threads(). The calls
  /// do not depend on each other, and none uses this pool. A thread runs one call at a time. If
  /// calls throw, one of the exceptions is thrown again after the last call.
  template <class Work>
  void each(std::size_t count, const Work& work) {
    if (count > 1 && threads() > 1) {
      const auto call = [](const void* what, std::size_t i, std::size_t thread) {
        (*static_cast<const Work*>(what))(i, thread);
      };
      return spread(count, call, &work);
    }
    for (std::size_t i = 0; i < count; ++i) work(i, std::size_t{0});
  }

  /// Does the same for work that takes `products` multiplications in all, on one thread if these
  /// are few.
  template <class Work>
  void each(std::size_t count, std::uint64_t products, const Work& work) {
    if (products >= 2 * least_products) return each(count, work);
    for (std::size_t i = 0; i < count; ++i) work(i, std::size_t{0});
  }

  /// Splits 0 … count into ranges, and calls work(first, end) for each. A range, except the last,
  /// has a multiple of `unit` elements, and at least `least`: fewer would cost more than they save.
  template <class Work>
  void split(std::size_t count, std::size_t unit, std::size_t least, const Work& work) {
    const std::size_t wanted = std::min(parts(), count / std::max({least, unit, std::size_t{1}}));
    if (wanted < 2) {
      if (count > 0) work(std::size_t{0}, count);
      return;
    }
    const std::size_t units = (count + unit - 1) / unit;
    each(wanted, [&](std::size_t part, std::size_t) {
      const std::size_t first = units * part / wanted * unit;
      const std::size_t end = std::min(units * (part + 1) / wanted * unit, count);
      if (first < end) work(first, end);
    });
  }

 private:
  using Call = void (*)(const void* work, std::size_t i, std::size_t thread);

  void spread(std::size_t count, Call call, const void* work);

  struct Threads;
  struct End {
    void operator()(Threads* threads) const;
  };
  std::unique_ptr<Threads, End> threads_;  // null: one thread
};

/// Returns the number of threads that this machine runs at the same time.
std::size_t machine_threads();

#if !GLASSFORMER_THREADS
struct Pool::Threads {};
inline void Pool::End::operator()(Threads*) const {}
inline Pool::Pool() = default;
inline Pool::~Pool() = default;
inline Pool& Pool::single() {
  static Pool pool;
  return pool;
}
inline std::size_t Pool::threads() const { return 1; }
inline void Pool::resize(std::size_t) {}
inline void Pool::spread(std::size_t, Call, const void*) {}
inline std::size_t machine_threads() { return 1; }
#endif

}  // namespace glassformer
