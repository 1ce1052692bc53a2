#include "run/sessions.hpp"

#if GLASSFORMER_THREADS

namespace glassformer {

void Sessions::set_threads(std::size_t threads) {
  const std::lock_guard lock(mutex_);
  sessions_.clear();
  pool_.resize(threads);
}

Session& Sessions::mine() {
  const std::lock_guard lock(mutex_);
  const std::thread::id me = std::this_thread::get_id();
  for (const auto& owned : sessions_) {
    if (owned->owner == me) return owned->session;
  }
  sessions_.push_back(std::make_unique<Owned>(me, pool_));
  return sessions_.back()->session;
}

}  // namespace glassformer

#endif
