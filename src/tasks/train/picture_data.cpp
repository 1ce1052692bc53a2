#include "tasks/train/picture_data.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "base/error.hpp"

namespace glassformer {
namespace {

constexpr std::string_view idx_bytes("\0\0\x08", 3);  // the format, and its type of numbers
constexpr std::uint64_t most_side = 1024;             // of a picture, in pixels
constexpr std::uint64_t most_pictures = 1 << 26;

// Takes the header of an IDX file from the front of `file`. Returns nothing if there is none.
std::optional<std::vector<std::uint64_t>> take_header(std::string_view& file) {
  if (!file.starts_with(idx_bytes) || file.size() < 4) return std::nullopt;
  const auto dimensions = static_cast<unsigned char>(file[3]);
  file.remove_prefix(4);
  if (file.size() < dimensions * std::size_t{4}) return std::nullopt;
  std::vector<std::uint64_t> sizes(dimensions);
  for (std::uint64_t& size : sizes) {
    for (int i = 0; i < 4; ++i) size = size << 8 | static_cast<unsigned char>(file[std::size_t(i)]);
    file.remove_prefix(4);
  }
  return sizes;
}

[[noreturn]] void fail(const Message& problem) { throw_error(ErrorCode::invalid_data, problem); }

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::vector<std::string> read_labels(std::string_view file, std::size_t count) {
  std::vector<std::string> labels;
  if (const auto sizes = take_header(file)) {
    if (sizes->size() != 1) {
      fail({"labels: expected an IDX file with 1 dimension, got {}", {sizes->size()}});
    }
    if ((*sizes)[0] != count || file.size() != count) {
      fail({"labels: expected {} as there are pictures, got {} in {} bytes",
            {count, (*sizes)[0], file.size()}});
    }
    for (const std::uint8_t label : bytes_of(file)) labels.push_back(std::to_string(label));
    return labels;
  }
  if (file.empty()) fail({"labels: expected {} as there are pictures, got none", {count}});
  for (const DataLine& line : read_data(file, DataForm::plain)) {
    expect_label(line.number, line.text);
    labels.emplace_back(line.text);
  }
  if (labels.size() != count) {
    fail({"labels: expected {} as there are pictures, got {}", {count, labels.size()}});
  }
  return labels;
}

bool is_number(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool holds_pictures(std::string_view file) { return file.starts_with(idx_bytes); }

PictureData read_pictures(std::string_view file) {
  const auto sizes = take_header(file);
  if (!sizes || sizes->size() < 3 || sizes->size() > 4) {
    fail(
        "pictures: expected an IDX file of bytes [N, height, width] or [N, height, width, 3], got "
        "something else");
  }
  const std::uint64_t count = (*sizes)[0], height = (*sizes)[1], width = (*sizes)[2];
  const std::uint64_t channels = sizes->size() == 4 ? (*sizes)[3] : 1;
  if (count == 0 || count > most_pictures || height == 0 || height > most_side || width == 0 ||
      width > most_side || (sizes->size() == 4 && channels != 3)) {
    fail(
        {"pictures: expected 1 to {} of at most {} x {} pixels and 1 or 3 channels, got {} of {} x "
         "{} and {}",
         {most_pictures, most_side, most_side, count, width, height, channels}});
  }
  const auto each = static_cast<std::size_t>(height * width * channels);
  if (file.size() / each < count) {
    fail({"pictures: expected {} of {} bytes, got {} bytes", {count, each, file.size()}});
  }
  PictureData data = {.height = static_cast<std::size_t>(height),
                      .width = static_cast<std::size_t>(width),
                      .channels = static_cast<std::size_t>(channels)};
  const auto pictures = static_cast<std::size_t>(count);
  const std::size_t pixels = pictures * each;
  const std::vector<std::string> labels = read_labels(file.substr(pixels), pictures);
  const auto bytes = bytes_of(file.substr(0, pixels));
  for (std::size_t i = 0; i < pictures; ++i) {
    data.items.push_back({bytes.subspan(i * each, each), labels[i]});
  }
  return data;
}

std::vector<LabelCount> count_labels(const PictureData& data) {
  std::map<std::string, LabelCount> seen;
  for (const PictureData::Item& item : data.items) {
    ++seen.try_emplace(item.label, LabelCount{item.label, 0, {}}).first->second.count;
  }
  if (seen.size() < 2) {
    fail({"expected pictures with at least two labels, got only {}", {seen.begin()->first}});
  }
  std::vector<LabelCount> labels;
  for (auto& [name, each] : seen) labels.push_back(std::move(each));
  if (std::ranges::all_of(labels, is_number, &LabelCount::label)) {
    std::ranges::stable_sort(labels, {}, [](const LabelCount& each) { return each.label.size(); });
  }
  return labels;
}

}  // namespace glassformer
