#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/train/training_data.hpp"

namespace glassformer {

/// Labelled pictures of one size.
struct PictureData {
  std::size_t height = 0, width = 0, channels = 1;
  struct Item {
    std::span<const std::uint8_t> bytes;  ///< [height, width, channels]
    std::string label;
  };
  std::vector<Item> items = {};
};

/// Returns whether a file begins as read_pictures expects.
bool holds_pictures(std::string_view file);

/// Reads two files, one after the other: pictures, and a label for each. Pictures are bytes in the
/// format IDX, as those of MNIST: four bytes 0, 0, 8 and the number of dimensions, each dimension
/// in four bytes, most significant first, then the bytes; [N, height, width] of gray or [N, height,
/// width, 3] of colors. Labels are bytes in the same format, [N], whose labels are "0", "1", …; or
/// N lines of text. `file` must outlive the result.
///
/// Throws `invalid_data` for anything else.
PictureData read_pictures(std::string_view file);

/// Counts the labels: numbers in their order, or sorted. Throws `invalid_data` if there is only
/// one.
std::vector<LabelCount> count_labels(const PictureData& data);

}  // namespace glassformer
