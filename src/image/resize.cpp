#include "image/resize.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace glassformer {
namespace {

// Weights are whole multiples of 2^-22.
constexpr int weight_bits = 22;

// Returns sin(πx) for |x| <= 3, within a few units in the last place. base/powers is not precise
// enough for weights that must round as those of the reference.
double sine_of_pi(double x) {
  constexpr double pi = 3.14159265358979323846;
  const double nearest = std::floor(x + 0.5);
  const double angle = pi * (x - nearest);
  double term = angle, sum = angle;
  for (int i = 2; i < 24; i += 2) {
    term *= -angle * angle / (i * (i + 1));
    sum += term;
  }
  return static_cast<int>(nearest) % 2 == 0 ? sum : -sum;
}

double sinc(double x) {
  constexpr double pi = 3.14159265358979323846;
  return x == 0 ? 1 : sine_of_pi(x) / (pi * x);
}

// A filter: its value is 0 at distances of `reach` or more.
struct Filter {
  double reach;
  double (*value)(double distance);
};

double bilinear(double x) { return std::max(1 - std::abs(x), 0.0); }

double bicubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

double lanczos(double x) { return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0; }

Filter filter_of(Resampling resampling) {
  if (resampling == Resampling::bilinear) return {1, bilinear};
  if (resampling == Resampling::bicubic) return {2, bicubic};
  return {3, lanczos};
}

// The pixels of one axis that a new pixel is computed from, and their weights.
struct Taps {
  std::size_t first = 0;
  std::vector<std::int32_t> weights = {};
};

std::vector<Taps> taps_of(const Filter& filter, std::size_t from, std::size_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double wider = std::max(scale, 1.0), reach = filter.reach * wider;
  std::vector<Taps> taps(to);
  std::vector<double> values;
  for (std::size_t i = 0; i < to; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    const double first = std::max(std::trunc(center - reach + 0.5), 0.0);
    const double end = std::min(std::trunc(center + reach + 0.5), static_cast<double>(from));
    double sum = 0;
    values.clear();
    for (double j = first; j < end; ++j) {
      values.push_back(filter.value((j - center + 0.5) * (1 / wider)));
      sum += values.back();
    }
    taps[i].first = static_cast<std::size_t>(first);
    for (double value : values) {
      if (sum != 0) value /= sum;
      value *= 1 << weight_bits;
      taps[i].weights.push_back(static_cast<std::int32_t>(value < 0 ? value - 0.5 : value + 0.5));
    }
  }
  return taps;
}

// Computes a new pixel from bytes `stride` apart.
std::uint8_t weighted(const std::uint8_t* bytes, std::size_t stride, const Taps& taps) {
  // Wraps as 32-bit integers do in the reference; real weights are far from that.
  std::uint32_t sum = 1u << (weight_bits - 1);
  for (const std::int32_t weight : taps.weights) {
    sum += static_cast<std::uint32_t>(*bytes) * static_cast<std::uint32_t>(weight);
    bytes += stride;
  }
  return static_cast<std::uint8_t>(
      std::clamp(static_cast<std::int32_t>(sum) >> weight_bits, 0, 255));
}

Picture blank(std::size_t width, std::size_t height, std::size_t channels) {
  return {width, height, channels, std::vector<std::uint8_t>(width * height * channels)};
}

Picture along_rows(const Picture& picture, std::size_t width, const Filter& filter) {
  Picture result = blank(width, picture.height, picture.channels);
  const std::vector<Taps> taps = taps_of(filter, picture.width, width);
  std::uint8_t* to = result.bytes.data();
  for (std::size_t y = 0; y < picture.height; ++y) {
    const std::uint8_t* row = &picture.bytes[y * picture.width * picture.channels];
    for (const Taps& tap : taps) {
      for (std::size_t c = 0; c < picture.channels; ++c) {
        *to++ = weighted(row + tap.first * picture.channels + c, picture.channels, tap);
      }
    }
  }
  return result;
}

Picture along_columns(const Picture& picture, std::size_t height, const Filter& filter) {
  Picture result = blank(picture.width, height, picture.channels);
  const std::size_t stride = picture.width * picture.channels;
  std::uint8_t* to = result.bytes.data();
  for (const Taps& tap : taps_of(filter, picture.height, height)) {
    for (std::size_t x = 0; x < stride; ++x) {
      *to++ = weighted(&picture.bytes[tap.first * stride + x], stride, tap);
    }
  }
  return result;
}

// Adds up the step as the reference does, so that rounding errors are the same.
std::vector<std::size_t> nearest_pixels(std::size_t from, std::size_t to) {
  const double step = static_cast<double>(from) / static_cast<double>(to);
  double place = step * 0.5;
  std::vector<std::size_t> pixels;
  for (std::size_t i = 0; i < to; ++i, place += step) {
    pixels.push_back(std::min(static_cast<std::size_t>(place), from - 1));
  }
  return pixels;
}

Picture nearest(const Picture& picture, std::size_t width, std::size_t height) {
  Picture result = blank(width, height, picture.channels);
  const std::vector<std::size_t> columns = nearest_pixels(picture.width, width);
  std::uint8_t* to = result.bytes.data();
  for (const std::size_t y : nearest_pixels(picture.height, height)) {
    for (const std::size_t x : columns) {
      const std::size_t at = (y * picture.width + x) * picture.channels;
      to = std::copy_n(&picture.bytes[at], picture.channels, to);
    }
  }
  return result;
}

}  // namespace

Picture resize(const Picture& picture, std::size_t width, std::size_t height,
               Resampling resampling) {
  if (width == picture.width && height == picture.height) return picture;
  if (resampling == Resampling::nearest) return nearest(picture, width, height);
  const Filter filter = filter_of(resampling);
  if (width == picture.width) return along_columns(picture, height, filter);
  const Picture wide = along_rows(picture, width, filter);
  return height == picture.height ? wide : along_columns(wide, height, filter);
}

}  // namespace glassformer
