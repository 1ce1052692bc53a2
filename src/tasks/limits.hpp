#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "tensor/sizes.hpp"

namespace glassformer {

/// What the attention weights and other tensors that one call hands out may take, all its texts
/// together, and what the search for one batch of sentences may grow to.
inline constexpr std::uint64_t max_trace_bytes = 512 << 20;
inline constexpr std::uint64_t max_search_bytes = 512 << 20;

/// Of what each layer would write, at most so many words are shown.
inline constexpr std::size_t most_lens_words = 100, usual_lens_words = 5;

/// "700 MiB", rounded up.
inline std::string mebibytes(std::uint64_t bytes) {
  constexpr std::uint64_t mebibyte = 1 << 20;
  return std::to_string(bytes / mebibyte + (bytes % mebibyte > 0 ? 1 : 0)) + " MiB";
}

/// Throws `too_large` where a text has more bytes than this.
inline void expect_text_size(std::size_t most, std::size_t got) {
  if (got <= most) return;
  throw_error(ErrorCode::too_large, {"text: expected at most {}, got {}; pass it in parts",
                                     {mebibytes(most), mebibytes(got)}});
}

/// Counts what the attention weights and other tensors that one call hands out take.
class TraceBudget {
 public:
  /// A text's share. Throws `too_large` where it no longer fits, and takes nothing then.
  void take(std::uint64_t numbers) {
    const std::uint64_t left = max_trace_bytes / sizeof(float) - taken_;
    if (numbers <= left) {
      taken_ += numbers;
      return;
    }
    throw_error(
        ErrorCode::too_large,
        {"text: what its trace shows may take {}, expected at most {} in one call{}; ask for fewer "
         "tensors, or those of fewer or shorter texts",
         {mebibytes(saturating_product({numbers, sizeof(float)})), mebibytes(max_trace_bytes),
          taken_ > 0 ? ", other texts have " + mebibytes(taken_ * sizeof(float)) : ""}});
  }

 private:
  std::uint64_t taken_ = 0;
};

}  // namespace glassformer
