#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/pool.hpp"
#include "run/session.hpp"

#if GLASSFORMER_THREADS
#include <mutex>
#include <thread>
#endif

namespace glassformer {

/// The sessions of a model's calls: one for each thread that calls. They share a pool, which serves
/// one of them at a time.
class Sessions {
 public:
  Sessions() = default;
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;

  /// Sets the number of threads that share the work of a call. Forgets all sessions.
  void set_threads(std::size_t threads);
  Pool& pool() { return pool_; }

  /// Returns the session of the calling thread.
  Session& mine();

 private:
  Pool pool_;
#if GLASSFORMER_THREADS
  struct Owned {
    Owned(std::thread::id thread, Pool& pool) : owner(thread), session(pool) {}
    std::thread::id owner;
    Session session;
  };
  std::mutex mutex_;
  std::vector<std::unique_ptr<Owned>> sessions_;
#else
  Session session_;
#endif
};

#if !GLASSFORMER_THREADS
inline void Sessions::set_threads(std::size_t) {}
inline Session& Sessions::mine() { return session_; }
#endif

}  // namespace glassformer
