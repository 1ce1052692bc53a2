#include "kernels/pool.hpp"

#if GLASSFORMER_THREADS

#include <atomic>
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace glassformer {
namespace {

// Tells the processor that a loop waits.
void pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// How long a thread looks for new work before it sleeps: longer than the steps of a call that run
// on one thread, as waking up takes tens of microseconds.
constexpr int looks_before_sleep = 50000;
// How long the first thread waits actively for the others.
constexpr int looks_before_yield = 20000;

}  // namespace

// The work is described by one number, so that a thread takes its next part by one exchange, which
// fails if anything has changed: another thread took the part, or the work is over. A thread that
// comes late disturbs nobody.
struct Pool::Threads {
  explicit Threads(std::size_t count) {
    others.reserve(count - 1);
    for (std::size_t i = 1; i < count; ++i) {
      try {
        others.emplace_back([this, i] { serve(i); });
      } catch (const std::system_error&) {  // the system has no more threads
        break;
      }
    }
  }

  ~Threads() {
    ends.store(true);
    bell.fetch_add(1);
    bell.notify_all();
    for (std::thread& other : others) other.join();
  }

  // --- the work: how often it was given, which part is next, how many there are

  static constexpr std::uint64_t one_part = 1u << 16, most_parts = one_part - 1;
  static bool any_left(std::uint64_t state) { return (state >> 16 & most_parts) < (state & most_parts); }

  std::atomic<std::uint64_t> state = 0;
  std::atomic<std::size_t> done = 0;
  // Set before `state`, and read by those who have taken a part: it cannot change before they are
  // done.
  Call call = nullptr;
  const void* work = nullptr;
  std::size_t base = 0;

  void run(std::size_t first, std::size_t count, Call the_call, const void* the_work) {
    call = the_call;
    work = the_work;
    base = first;
    done.store(0, std::memory_order_relaxed);
    state.store(((state.load(std::memory_order_relaxed) >> 32) + 1) << 32 | count);
    if (sleepers.load() > 0) {
      bell.fetch_add(1);
      bell.notify_all();
    }
    take_parts(0);
    for (int looks = 0; done.load(std::memory_order_acquire) < count; ++looks) {
      if (looks < looks_before_yield) {
        pause();
      } else {
        std::this_thread::yield();
      }
    }
    if (failed.load(std::memory_order_relaxed)) {
      failed.store(false, std::memory_order_relaxed);
      std::rethrow_exception(std::exchange(failure, nullptr));
    }
  }

  // Returns whether there was any.
  bool take_parts(std::size_t thread) {
    bool any = false;
    std::uint64_t seen = state.load();
    while (any_left(seen)) {
      if (!state.compare_exchange_weak(seen, seen + one_part)) continue;
      any = true;
      try {
        call(work, base + (seen >> 16 & most_parts), thread);
      } catch (...) {
        if (!failed.exchange(true)) failure = std::current_exception();
      }
      done.fetch_add(1, std::memory_order_release);
      seen = state.load();
    }
    return any;
  }

  // --- threads

  void serve(std::size_t thread) {
    for (int looks = 0; !ends.load(std::memory_order_relaxed); ++looks) {
      if (take_parts(thread)) {
        looks = 0;
      } else if (looks < looks_before_sleep) {
        pause();
      } else {
        sleep();
        looks = 0;
      }
    }
  }

  // Either run() sees the sleeper and rings, or the sleeper sees the new work.
  void sleep() {
    sleepers.fetch_add(1);
    const std::uint32_t heard = bell.load();
    if (!any_left(state.load()) && !ends.load()) bell.wait(heard);
    sleepers.fetch_sub(1);
  }

  std::atomic<std::uint32_t> bell = 0, sleepers = 0;
  std::atomic<bool> busy = false, ends = false, failed = false;
  std::exception_ptr failure;
  std::vector<std::thread> others;
};

namespace {

// Makes a pool available again, also after an exception.
class Release {
 public:
  explicit Release(std::atomic<bool>& busy) : busy_(busy) {}
  Release(const Release&) = delete;
  Release& operator=(const Release&) = delete;
  ~Release() { busy_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool>& busy_;
};

}  // namespace

Pool::Pool() = default;
Pool::~Pool() = default;

Pool& Pool::single() {
  static Pool pool;
  return pool;
}

void Pool::resize(std::size_t threads) {
  threads_.reset();
  if (threads > 1) threads_ = std::make_unique<Threads>(std::min(threads, most));
}

std::size_t Pool::threads() const { return threads_ ? threads_->others.size() + 1 : 1; }

void Pool::spread(std::size_t count, Call call, const void* work) {
  if (threads_->busy.exchange(true, std::memory_order_acquire)) {
    for (std::size_t i = 0; i < count; ++i) call(work, i, 0);
    return;
  }
  const Release release(threads_->busy);
  for (std::size_t first = 0; first < count; first += Threads::most_parts) {
    threads_->run(first, std::min<std::size_t>(count - first, Threads::most_parts), call, work);
  }
}

std::size_t machine_threads() {
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, Pool::most);
}

}  // namespace glassformer

#endif
