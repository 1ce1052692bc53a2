#include "train/turns.hpp"

#include <algorithm>

#ifndef __EMSCRIPTEN__
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>
#endif

namespace glassformer {
namespace {

using Call = std::function<void(std::size_t, std::size_t)>;

void one_by_one(std::size_t count, const Call& work, const Call& finish) {
  for (std::size_t i = 0; i < count; ++i) {
    work(0, i);
    finish(0, i);
  }
}

}  // namespace

#ifdef __EMSCRIPTEN__

void at_once(std::size_t, std::size_t count, const std::function<void(std::size_t)>& work) {
  for (std::size_t i = 0; i < count; ++i) work(i);
}

void in_turns(std::size_t, std::size_t count, const Call& work, const Call& finish) {
  one_by_one(count, work, finish);
}

#else

namespace {

// Hands out the numbers below `count` in their order, and waits for turns.
class Turns {
 public:
  explicit Turns(std::size_t count) : count_(count) {}

  // Returns false if there is nothing left to do.
  bool take(std::size_t& i) {
    const std::lock_guard lock(mutex_);
    if (failure_ || next_ == count_) return false;
    i = next_++;
    return true;
  }

  // Calls finish() when all smaller numbers have been finished.
  template <class Finish>
  void finish(std::size_t i, const Finish& finish) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return turn_ == i || failure_; });
    if (failure_) return;
    finish();
    ++turn_;
    changed_.notify_all();
  }

  // Calls run(worker) on as many threads, this one included, and waits for all.
  template <class Run>
  void spread(std::size_t workers, const Run& run) {
    const auto guarded = [&](std::size_t worker) {
      try {
        run(worker);
      } catch (...) {
        fail(std::current_exception());
      }
    };
    std::vector<std::thread> threads;
    for (std::size_t worker = 1; worker < std::min(workers, count_); ++worker) {
      threads.emplace_back(guarded, worker);
    }
    guarded(0);
    for (std::thread& thread : threads) thread.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void fail(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t count_, next_ = 0, turn_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

void at_once(std::size_t workers, std::size_t count, const std::function<void(std::size_t)>& work) {
  Turns turns(count);
  turns.spread(workers, [&](std::size_t) {
    for (std::size_t i = 0; turns.take(i);) work(i);
  });
}

void in_turns(std::size_t workers, std::size_t count, const Call& work, const Call& finish) {
  if (workers <= 1 || count <= 1) return one_by_one(count, work, finish);
  Turns turns(count);
  turns.spread(workers, [&](std::size_t worker) {
    for (std::size_t i = 0; turns.take(i);) {
      work(worker, i);
      turns.finish(i, [&] { finish(worker, i); });
    }
  });
}

#endif

}  // namespace glassformer
