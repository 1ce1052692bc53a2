#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "tensor/sizes.hpp"

namespace glassformer {

/// Memory limits: of all attention weights and other tensors that one call returns, and of the
/// search for one batch of sentences.
inline constexpr std::uint64_t max_trace_bytes = 512 << 20;
inline constexpr std::uint64_t max_search_bytes = 512 << 20;

/// The number of words that a lens returns per layer: the maximum and the default.
inline constexpr std::size_t most_lens_words = 100, usual_lens_words = 5;

/// Formats a size, rounded up, such as "700 MiB".
inline std::string mebibytes(std::uint64_t bytes) {
  constexpr std::uint64_t mebibyte = 1 << 20;
  return std::to_string(bytes / mebibyte + (bytes % mebibyte > 0 ? 1 : 0)) + " MiB";
}

/// Throws `too_large` if a text has more than `most` bytes.
inline void expect_text_size(std::size_t most, std::size_t got) {
  if (got <= most) return;
  throw_error(ErrorCode::too_large, {"text: expected at most {}, got {}; pass it in parts",
                                     {mebibytes(most), mebibytes(got)}});
}

/// Adds up the memory of the attention weights and other tensors that one call returns.
class TraceBudget {
 public:
  /// Takes the share of one text. Throws `too_large` if it does not fit, and then takes nothing.
  void take(std::uint64_t numbers) {
    const std::uint64_t left = max_trace_bytes / sizeof(float) - taken_;
    if (numbers <= left) {
      taken_ += numbers;
      return;
    }
    throw_error(
        ErrorCode::too_large,
        {"text: the requested tensors may take {}, expected at most {} in one call{}; request "
         "fewer "
         "tensors, or fewer or shorter texts",
         {mebibytes(saturating_product({numbers, sizeof(float)})), mebibytes(max_trace_bytes),
          taken_ > 0 ? ", other texts take " + mebibytes(taken_ * sizeof(float)) : ""}});
  }

 private:
  std::uint64_t taken_ = 0;
};

}  // namespace glassformer
