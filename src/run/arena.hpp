#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "tensor/aligned_buffer.hpp"
#include "tensor/tensor.hpp"

namespace glassformer {

/// Memory for the activations of a forward pass. Tensors are taken one after the other and released
/// together, at the end of a Scope. The memory is kept for the next pass, so a pass with the shapes
/// of an earlier one allocates nothing.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Returns a tensor [rows, columns] whose elements are not set. Throws `too_large` if a program
  /// cannot address that many.
  View make(std::size_t rows, std::size_t columns) {
    return view(take(rows > least_rows_ ? rows : least_rows_, columns), {rows, columns});
  }
  /// Does the same for a tensor that has at most `most` rows, even if the pass has more.
  View make_block(std::size_t rows, std::size_t columns, std::size_t most);
  /// Returns bytes, aligned for the widest vector.
  std::byte* make_bytes(std::size_t count);

  /// Releases everything.
  void clear() { chunk_ = used_ = 0; }

  /// While it holds, scopes release nothing; only `clear` does.
  void hold(bool holds) { holds_ = holds; }
  bool holds() const { return holds_; }
  /// The memory in use: the number of pieces, and the floats of each.
  std::size_t chunks() const { return chunks_.empty() ? 0 : chunk_ + 1; }
  std::span<const float> chunk(std::size_t i) const {
    return {chunks_[i].data.get(), i == chunk_ ? used_ : chunks_[i].size};
  }

  /// Releases at its end everything that was taken since its beginning.
  class Scope {
   public:
    explicit Scope(Arena& arena) : arena_(arena), chunk_(arena.chunk_), used_(arena.used_) {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() {
      if (arena_.holds_) return;
      arena_.chunk_ = chunk_;
      arena_.used_ = used_;
    }

   private:
    Arena& arena_;
    std::size_t chunk_, used_;
  };

  /// While it exists, every tensor gets memory for at least `rows` rows. A pass over no rows then
  /// reserves the memory of later passes over up to `rows` rows.
  class Reservation {
   public:
    Reservation(Arena& arena, std::size_t rows) : arena_(arena) { arena_.least_rows_ = rows; }
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;
    ~Reservation() { arena_.least_rows_ = 0; }

   private:
    Arena& arena_;
  };

 private:
  struct Free {
    void operator()(float* data) const { AlignedAllocator<float>().deallocate(data, 0); }
  };
  struct Chunk {
    std::unique_ptr<float[], Free> data;
    std::size_t size = 0;  // floats
  };

  float* take(std::size_t rows, std::size_t columns);

  std::vector<Chunk> chunks_;
  std::size_t chunk_ = 0, used_ = 0;  // the chunk that is being used, and how many floats of it are
  std::size_t least_rows_ = 0;
  bool holds_ = false;
};

}  // namespace glassformer
