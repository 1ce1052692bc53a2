#include "kernels/pool.hpp"

#if GLASSFORMER_THREADS

#include <atomic>
#include <cstdint>
#include <exception>
#include <utility>

#if !defined(__wasm__)
#include <system_error>
#include <thread>
#include <vector>
#endif
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

// How long a thread looks for new work before it sleeps: about a millisecond, longer than the steps
// of a call that run on one thread. Waking up takes tens of microseconds, and the system may wake a
// thread on a processor that is busy.
constexpr int looks_before_sleep = 50000;
// How long the first thread waits actively for the others.
constexpr int looks_before_yield = 20000;

// A number that threads wait for.
class Bell {
 public:
  std::uint32_t heard() const { return count_.load(); }
#if defined(__wasm__)
  void ring() {
    count_.fetch_add(1);
    __builtin_wasm_memory_atomic_notify(address(), 1u << 30);
  }
  void wait(std::uint32_t heard, std::int64_t nanoseconds = -1) {
    __builtin_wasm_memory_atomic_wait32(address(), static_cast<int>(heard), nanoseconds);
  }

 private:
  int* address() { return reinterpret_cast<int*>(&count_); }
#else
  void ring() {
    count_.fetch_add(1);
    count_.notify_all();
  }
  void wait(std::uint32_t heard) const { count_.wait(heard); }

 private:
#endif
  std::atomic<std::uint32_t> count_ = 0;
};

}  // namespace

// The work is described by one number, so that a thread takes its next part by one exchange, which
// fails if anything has changed: another thread took the part, or the work is over. A thread that
// comes late changes nothing.
struct Pool::Threads {
  // --- the work: how often it was given, which part is next, how many there are

  static constexpr std::uint64_t one_part = 1u << 16, most_parts = one_part - 1;
  static bool any_left(std::uint64_t state) {
    return (state >> 16 & most_parts) < (state & most_parts);
  }

  std::atomic<std::uint64_t> state = 0;
  std::atomic<std::size_t> done = 0;
  // Set before `state`, and read by those who have taken a part: it cannot change before they are
  // done.
  Call call = nullptr;
  const void* work = nullptr;
  std::size_t base = 0;

  void run(std::size_t first, std::size_t parts, Call the_call, const void* the_work) {
    call = the_call;
    work = the_work;
    base = first;
    done.store(0, std::memory_order_relaxed);
    state.store(((state.load(std::memory_order_relaxed) >> 32) + 1) << 32 | parts);
    if (sleepers.load() > 0) bell.ring();
    take_parts(0);
    for (int looks = 0; done.load(std::memory_order_acquire) < parts; ++looks) {
      if (looks < looks_before_yield) {
        pause();
      } else {
        yield();
      }
    }
    if (failed.load(std::memory_order_relaxed)) {
      failed.store(false, std::memory_order_relaxed);
      std::rethrow_exception(std::exchange(failure, nullptr));
    }
  }

  void take_parts(std::size_t thread) {
    std::uint64_t seen = state.load();
    while (any_left(seen)) {
      if (!state.compare_exchange_weak(seen, seen + one_part)) continue;
      try {
        call(work, base + (seen >> 16 & most_parts), thread);
      } catch (...) {
        if (!failed.exchange(true)) failure = std::current_exception();
      }
      done.fetch_add(1, std::memory_order_release);
      seen = state.load();
    }
  }

  // --- threads

  void serve(std::size_t thread) {
    for (int looks = 0; !ends.load(std::memory_order_relaxed); ++looks) {
      if (any_left(state.load())) {
        take_parts(thread);
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
    const std::uint32_t heard = bell.heard();
    if (!any_left(state.load()) && !ends.load()) bell.wait(heard);
    sleepers.fetch_sub(1);
  }

  Bell bell;
  std::atomic<std::uint32_t> sleepers = 0;
  std::atomic<bool> busy = false, ends = false, failed = false;
  std::exception_ptr failure;

#if defined(__wasm__)
  std::size_t count = 1;
  std::atomic<bool> lost = false;
  Bell never;

  // The threads of the instance, which never end. Not a variable of a function: Emscripten's guards
  // of those do nothing for workers, so that two threads could construct it at the same time.
  static Threads of_instance;

  void yield() {
    if (lost.load()) __builtin_trap();
    never.wait(0, 100'000);
  }
#else
  explicit Threads(std::size_t wanted) {
    others.reserve(wanted - 1);
    for (std::size_t i = 1; i < wanted; ++i) {
      try {
        others.emplace_back([this, i] { serve(i); });
      } catch (const std::system_error&) {  // the system has no more threads
        break;
      }
    }
    count = others.size() + 1;
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads() {
    ends.store(true);
    bell.ring();
    for (std::thread& other : others) other.join();
  }

  std::vector<std::thread> others;
  std::size_t count = 1;

  static void yield() { std::this_thread::yield(); }
#endif

  // Makes the pool available again, also after an exception.
  struct Release {
    explicit Release(Threads& threads) : threads_(threads) {}
    Release(const Release&) = delete;
    Release& operator=(const Release&) = delete;
    ~Release() { threads_.busy.store(false, std::memory_order_release); }

   private:
    Threads& threads_;
  };
};

Pool::Pool() = default;
Pool::~Pool() = default;

Pool& Pool::single() {
  static Pool pool;
  return pool;
}

std::size_t Pool::threads() const { return threads_ ? threads_->count : 1; }

void Pool::spread(std::size_t count, Call call, const void* work) {
  if (threads_->busy.exchange(true, std::memory_order_acquire)) {
    for (std::size_t i = 0; i < count; ++i) call(work, i, 0);
    return;
  }
  const Threads::Release release(*threads_);
  for (std::size_t first = 0; first < count; first += Threads::most_parts) {
    threads_->run(first, std::min<std::size_t>(count - first, Threads::most_parts), call, work);
  }
}

#if defined(__wasm__)

Pool::Threads Pool::Threads::of_instance;

void Pool::End::operator()(Threads*) const {}

void Pool::resize(std::size_t threads) {
  threads_.reset(threads > 1 ? &Threads::of_instance : nullptr);
  if (threads_) threads_->count = std::min(threads, most);
}

void Pool::serve(std::size_t thread) {
  for (;;) Threads::of_instance.serve(thread);
}

void Pool::lose_thread() { Threads::of_instance.lost.store(true); }

#else

void Pool::End::operator()(Threads* threads) const { delete threads; }

void Pool::resize(std::size_t threads) {
  threads_.reset();
  if (threads > 1) threads_.reset(new Threads(std::min(threads, most)));
}

std::size_t machine_threads() {
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, Pool::most);
}

#endif

}  // namespace glassformer

#endif
