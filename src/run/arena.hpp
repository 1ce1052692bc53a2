#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "tensor/aligned_buffer.hpp"
#include "tensor/tensor.hpp"

namespace glassformer {

/// Memory for the activations of a forward pass. Tensors are taken one after the other and given
/// back together, at the end of a Scope; the memory stays for the next pass, so that a pass with
/// the shapes of an earlier one allocates nothing.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// A tensor [rows, columns] whose elements are not set. Throws `too_large` if a program cannot
  /// address that many.
  View<2> make(std::size_t rows, std::size_t columns) {
    return view<2>(take(rows > least_rows_ ? rows : least_rows_, columns), {rows, columns});
  }
  /// The same for a tensor with at most `most` rows however many the pass has.
  View<2> make_block(std::size_t rows, std::size_t columns, std::size_t most);
  /// Bytes, aligned for the widest vector.
  std::byte* make_bytes(std::size_t count);

  /// Gives back everything.
  void clear() { chunk_ = used_ = 0; }

  /// Gives back, at its end, what was taken since its beginning.
  class Scope {
   public:
    explicit Scope(Arena& arena) : arena_(arena), chunk_(arena.chunk_), used_(arena.used_) {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() {
      arena_.chunk_ = chunk_;
      arena_.used_ = used_;
    }

   private:
    Arena& arena_;
    std::size_t chunk_, used_;
  };

  /// Until its end, every tensor gets memory for at least so many rows. A pass over no rows in it
  /// reserves what later passes over up to that many rows need.
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
};

}  // namespace glassformer
