#include "image/picture_steps.hpp"

#include <algorithm>
#include <cmath>

#include "base/json/json.hpp"
#include "base/json/json_writer.hpp"
#include "image/checks.hpp"

namespace glassformer {
namespace {

constexpr std::size_t most_fields = 1000;
constexpr std::size_t most_side = 1 << 12;

[[noreturn]] void refuse(const JsonObject& object, const char* key, const Message& expected,
                         const Message& got) {
  throw_error(ErrorCode::unsupported,
              {"{}: {}: expected {}, got {}", {object.json_source().name, key, expected, got}});
}

// Returns whether a class is known, ignoring the ends that say which library it resizes with.
std::optional<PictureProcessor> find_processor(std::string_view name) {
  for (const std::string_view end : {"Fast", "Pil", "ImageProcessor", "FeatureExtractor"}) {
    if (name.ends_with(end)) name.remove_suffix(end.size());
  }
  if (name == "ViT") return PictureProcessor::vit;
  if (name == "DeiT") return PictureProcessor::deit;
  if (name == "CLIP") return PictureProcessor::clip;
  return std::nullopt;
}

// A file of before 2022 has the second key.
PictureProcessor processor_of(JsonObject& object, PictureProcessor usual) {
  for (const char* key : {"image_processor_type", "feature_extractor_type"}) {
    if (!present(object.find(key))) continue;
    const std::string name = object.string(key);
    if (const auto known = find_processor(name)) return *known;
    refuse(object, key, "\"ViTImageProcessor\", \"DeiTImageProcessor\" or \"CLIPImageProcessor\"",
           describe(name));
  }
  return usual;
}

// Reads a size: one number for both sides, [height, width] or {"height", "width"}. `edge`, if not
// null, is set for {"shortest_edge"}; a single number is that if `edge` had a value, or as
// "default_to_square" says.
void read_size(JsonObject& object, const char* key, PictureSteps::Size& size,
               std::optional<std::size_t>* edge) {
  const JsonValue* value = present(object.find(key));
  if (!value) return;
  const auto side = [&](JsonValue number) {
    return static_cast<std::size_t>(object.integer(key, number, 1, most_side));
  };
  if (value->is_array()) {
    if (edge) edge->reset();
    JsonEntries entry(*value);
    if (count_entries(*value) != 2) object.fail(key, "two numbers", *value);
    entry.next();
    size.height = side(entry.value());
    entry.next();
    size.width = side(entry.value());
    return;
  }
  if (!value->is_object()) {
    const bool squares = present(object.find("default_to_square"))
                             ? object.boolean("default_to_square")
                             : !(edge && *edge);
    if (edge) edge->reset();
    if (edge && !squares) {
      *edge = side(*value);
    } else {
      size.height = size.width = side(*value);
    }
    return;
  }
  JsonObject sides(*value, object.json_source(), key);
  const auto has = [&](const char* name) { return present(sides.find(name)) != nullptr; };
  for (const char* name : {"longest_edge", "max_height", "max_width"}) {
    if (has(name)) {
      refuse(object, key, "\"height\" and \"width\", or \"shortest_edge\"",
             describe(std::string_view(name)));
    }
  }
  if (edge && has("shortest_edge")) {
    *edge = static_cast<std::size_t>(sides.integer("shortest_edge", 1, most_side));
    return;
  }
  if (edge) edge->reset();
  size.height = static_cast<std::size_t>(sides.integer("height", 1, most_side));
  size.width = static_cast<std::size_t>(sides.integer("width", 1, most_side));
}

void read_numbers(JsonObject& object, const char* key, std::vector<float>& numbers) {
  const JsonValue* value = present(object.find(key));
  if (!value) return;
  numbers.clear();
  if (!value->is_array()) {
    numbers.push_back(object.float_number(key));
    return;
  }
  for (JsonEntries entry(*value); entry.next();) {
    numbers.push_back(object.float_number(key, entry.value()));
  }
  if (numbers.size() != 1 && numbers.size() != 3) {
    object.fail(key, "a number, or one per channel", *value);
  }
}

void read_flag(JsonObject& object, const char* key, bool& flag) {
  if (present(object.find(key))) flag = object.boolean(key);
}

// The filters by their numbers in Pillow.
constexpr std::array resamplings = {Resampling::nearest, Resampling::lanczos, Resampling::bilinear,
                                    Resampling::bicubic};

void read_resampling(JsonObject& object, Resampling& resampling) {
  const JsonValue* value = present(object.find("resample"));
  if (!value) return;
  const std::uint64_t number = object.integer("resample", 0, 5);
  if (number >= resamplings.size()) {
    refuse(object, "resample", "0 (nearest), 1 (Lanczos), 2 (bilinear) or 3 (bicubic)",
           describe(*value));
  }
  resampling = resamplings[static_cast<std::size_t>(number)];
}

}  // namespace

PictureSteps usual_picture_steps(PictureProcessor processor) {
  PictureSteps steps;
  if (processor == PictureProcessor::vit) return steps;
  steps.size = {256, 256};
  steps.resampling = Resampling::bicubic;
  steps.crops = true;
  if (processor == PictureProcessor::deit) return steps;
  steps.shortest_edge = 224;
  steps.mean = {0.48145466f, 0.4578275f, 0.40821073f};
  steps.deviation = {0.26862954f, 0.26130258f, 0.27577711f};
  return steps;
}

PictureSteps read_picture_steps(std::string_view json, PictureProcessor usual, const char* name) {
  const JsonSource source = {ErrorCode::invalid_config, name};
  JsonObject object(parse_json(json, source), source, {}, most_fields);
  PictureSteps steps = usual_picture_steps(processor_of(object, usual));
  read_flag(object, "do_resize", steps.resizes);
  read_size(object, "size", steps.size, &steps.shortest_edge);
  read_resampling(object, steps.resampling);
  read_flag(object, "do_center_crop", steps.crops);
  read_size(object, "crop_size", steps.crop, nullptr);
  read_flag(object, "do_rescale", steps.rescales);
  if (present(object.find("rescale_factor"))) steps.factor = object.number("rescale_factor");
  // The number that it is meant to be, whatever the last digit that was written or read.
  if (std::abs(steps.factor * 255 - 1) < 1e-12) steps.factor = 1.0 / 255;
  read_flag(object, "do_normalize", steps.normalizes);
  read_numbers(object, "image_mean", steps.mean);
  read_numbers(object, "image_std", steps.deviation);
  if (std::ranges::count(steps.deviation, 0.0f) > 0) {
    object.fail("image_std", "expected numbers other than 0, got 0");
  }
  bool pads = false, square = false;
  read_flag(object, "use_square_size", square);
  if (square) refuse(object, "use_square_size", "false", "true");
  read_flag(object, "do_pad", pads);
  if (pads) refuse(object, "do_pad", "false", "true");
  return steps;
}

std::string to_json(const PictureSteps& steps) {
  const auto numbers = [](JsonWriter& json, const char* key, const std::vector<float>& values) {
    json.key(key);
    json.array(values, [&](float value) { json.value(value); });
  };
  const auto size = [](JsonWriter& json, const char* key, const PictureSteps::Size& sides) {
    json.key(key);
    json.object([&] {
      json.field("height", sides.height);
      json.field("width", sides.width);
    });
  };
  JsonWriter json(JsonWriter::Layout::lines);
  json.object([&] {
    // Before version 5 of the library, the first class did not crop.
    json.field("image_processor_type", steps.crops ? "DeiTImageProcessor" : "ViTImageProcessor");
    json.field("do_resize", steps.resizes);
    if (steps.shortest_edge) {
      json.key("size");
      json.object([&] { json.field("shortest_edge", *steps.shortest_edge); });
    } else {
      size(json, "size", steps.size);
    }
    json.field("resample",
               static_cast<std::size_t>(std::ranges::find(resamplings, steps.resampling) -
                                        resamplings.begin()));
    json.field("do_center_crop", steps.crops);
    if (steps.crops) size(json, "crop_size", steps.crop);
    json.field("do_rescale", steps.rescales);
    json.key("rescale_factor");
    if (steps.factor == 1.0 / 255) {
      json.raw("0.00392156862745098");
    } else {
      json.value(static_cast<float>(steps.factor));
    }
    json.field("do_normalize", steps.normalizes);
    numbers(json, "image_mean", steps.mean);
    numbers(json, "image_std", steps.deviation);
  });
  return json.take() + "\n";
}

std::optional<PictureSteps::Size> PictureSteps::final_size() const {
  if (crops) return crop;
  if (resizes && !shortest_edge) return size;
  return std::nullopt;
}

namespace {

// ITU-R 601-2 luma in 16-bit fixed point, as in Pillow.
std::uint8_t gray_of(const std::uint8_t* color) {
  return static_cast<std::uint8_t>(
      (color[0] * 19595u + color[1] * 38470u + color[2] * 7471u + 0x8000u) >> 16);
}

// Drops alpha, repeats gray or computes it.
Picture with_channels(const Picture& picture, std::size_t channels) {
  Picture result = {picture.width, picture.height, channels, {}};
  const std::size_t pixels = picture.width * picture.height;
  result.bytes.resize(pixels * channels);
  std::uint8_t* to = result.bytes.data();
  for (std::size_t i = 0; i < pixels; ++i) {
    const std::uint8_t* from = &picture.bytes[i * picture.channels];
    if (channels == 1) {
      *to++ = picture.channels == 1 ? *from : gray_of(from);
    } else {
      for (std::size_t c = 0; c < 3; ++c) *to++ = from[picture.channels == 1 ? 0 : c];
    }
  }
  return result;
}

PictureSteps::Size resized_size(const Picture& picture, const PictureSteps& steps) {
  if (!steps.resizes) return {picture.height, picture.width};
  if (!steps.shortest_edge) return steps.size;
  const std::uint64_t edge = *steps.shortest_edge;
  const std::uint64_t shorter = std::min(picture.width, picture.height);
  const std::uint64_t longer = std::max(picture.width, picture.height);
  const auto other = static_cast<std::size_t>(edge * longer / shorter);
  if (picture.width <= picture.height) return {other, static_cast<std::size_t>(edge)};
  return {static_cast<std::size_t>(edge), other};
}

}  // namespace

PreparedPicture prepare(const Picture& picture, const PictureSteps& steps, std::size_t channels) {
  check_picture(picture);
  const PictureSteps::Size size = resized_size(picture, steps);
  expect_picture_size(size.width, size.height);
  expect_picture_size(size.width, picture.height);  // after the first pass of resizing
  const bool same = picture.channels == channels;
  const Picture converted = same ? Picture() : with_channels(picture, channels);
  const Picture resized =
      resize(same ? picture : converted, size.width, size.height, steps.resampling);

  // The place of the result's first pixel, which may be outside of the picture.
  std::ptrdiff_t top = 0, left = 0;
  PreparedPicture result = {{}, size.height, size.width, {}};
  if (steps.crops) {
    result.height = steps.crop.height;
    result.width = steps.crop.width;
    const auto half = [](std::size_t have, std::size_t want) {
      const auto more = static_cast<std::ptrdiff_t>(have) - static_cast<std::ptrdiff_t>(want);
      return (more - (more < 0 ? 1 : 0)) / 2;  // rounded down
    };
    top = half(size.height, result.height);
    left = half(size.width, result.width);
  }
  const float down = static_cast<float>(picture.height) / static_cast<float>(size.height);
  const float across = static_cast<float>(picture.width) / static_cast<float>(size.width);
  result.region = {static_cast<float>(left) * across, static_cast<float>(top) * down,
                   static_cast<float>(result.width) * across,
                   static_cast<float>(result.height) * down};

  result.values.reserve(channels * result.height * result.width);
  for (std::size_t c = 0; c < channels; ++c) {
    const auto of_channel = [c](const std::vector<float>& numbers) {
      return numbers[std::min(c, numbers.size() - 1)];
    };
    const float mean = of_channel(steps.mean), deviation = of_channel(steps.deviation);
    std::array<float, 256> value_of;
    for (std::size_t byte = 0; byte < value_of.size(); ++byte) {
      const auto number = static_cast<double>(byte);
      float& value = value_of[byte];
      value = static_cast<float>(steps.rescales ? number * steps.factor : number);
      if (steps.normalizes) value = (value - mean) / deviation;
    }
    for (std::size_t y = 0; y < result.height; ++y) {
      const std::size_t from_y = y + static_cast<std::size_t>(top);  // wraps if negative
      for (std::size_t x = 0; x < result.width; ++x) {
        const std::size_t from_x = x + static_cast<std::size_t>(left);
        const bool inside = from_y < size.height && from_x < size.width;
        const std::size_t at = (from_y * size.width + from_x) * channels + c;
        result.values.push_back(value_of[inside ? resized.bytes[at] : 0]);
      }
    }
  }
  return result;
}

}  // namespace glassformer
