#include "run/arena.hpp"

#include <algorithm>

#include "tensor/sizes.hpp"

namespace glassformer {
namespace {

constexpr std::size_t least_chunk = 1 << 12;  // floats
constexpr std::size_t line = alignment / sizeof(float);

}  // namespace

View Arena::make_block(std::size_t rows, std::size_t columns, std::size_t most) {
  const std::size_t reserved = std::min(std::max(rows, least_rows_), most);
  return view(take(reserved, columns), {std::min(rows, most), columns});
}

std::byte* Arena::make_bytes(std::size_t count) {
  return reinterpret_cast<std::byte*>(take(1, (count + sizeof(float) - 1) / sizeof(float)));
}

float* Arena::take(std::size_t rows, std::size_t columns) {
  const std::size_t count =
      (checked_product("activations", {rows, columns}) + line - 1) / line * line;
  if (chunk_ < chunks_.size() && used_ > 0 && count > chunks_[chunk_].size - used_) {
    // Takes the first later chunk that is large enough, so that a pass with fewer rows needs no
    // more memory than one with more. If no chunk is large enough, the next one grows.
    const auto next = chunks_.begin() + static_cast<std::ptrdiff_t>(chunk_) + 1;
    const auto large =
        std::find_if(next, chunks_.end(), [&](const Chunk& chunk) { return chunk.size >= count; });
    chunk_ = static_cast<std::size_t>((large == chunks_.end() ? next : large) - chunks_.begin());
    used_ = 0;
  }
  if (chunk_ == chunks_.size()) chunks_.emplace_back();
  Chunk& chunk = chunks_[chunk_];
  if (!chunk.data || count > chunk.size) {  // a tensor without rows has an address, too
    // The old memory is freed first, so that both never exist at a time. If memory runs out, the
    // chunk is empty.
    chunk.data.reset();
    chunk.size = 0;
    std::size_t size = std::max(count, least_chunk);
    if (holds_) {  // few chunks, as nothing is released between them
      for (const Chunk& other : chunks_) size = std::max(size, other.size);
    }
    chunk.data.reset(AlignedAllocator<float>().allocate(size));
    chunk.size = size;
  }
  float* const data = chunk.data.get() + used_;
  used_ += count;
  return data;
}

}  // namespace glassformer
