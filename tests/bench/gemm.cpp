// Measures the project's own matrix products at shapes of models, for comparison with the machine's
// peak (peak.cpp). The native program `gemm_probe MxKxN...` prints {"build", "f32": {shape: rate},
// "int8": …} in billions of operations per second, the best of many short runs. The wasm build
// exports `prepare` and `multiply`, and probe.mjs measures the time.
#include <algorithm>
#include <functional>
#include <memory>

#include "products.hpp"

#ifndef __wasm__
#include <chrono>
#include <cstdio>
#include <cstdlib>
#endif

namespace {

using glassformer::FloatProduct;
using glassformer::Int8Product;
using glassformer::Shape;

#ifdef __wasm__

Shape shape;
std::function<void()> product;

#define EXPORT(name) extern "C" __attribute__((export_name(#name)))

EXPORT(prepare) void prepare(int int8, std::size_t m, std::size_t k, std::size_t n) {
  shape = {m, k, n};
  if (int8) {
    product = [run = std::make_shared<Int8Product>(shape)] { (*run)(); };
  } else {
    product = [run = std::make_shared<FloatProduct>(shape)] { (*run)(); };
  }
}

/// Runs `repeats` products. Returns their number of operations.
EXPORT(multiply) double multiply(double repeats) {
  for (double i = 0; i < repeats; ++i) product();
  return repeats * shape.operations();
}

}  // namespace

#else

template <class Product>
double rate(const Shape& shape) {
  using Clock = std::chrono::steady_clock;
  Product product(shape);
  const int repeats = static_cast<int>(std::max(1.0, 2e7 / shape.operations()));
  double best = 0;
  for (int run = 0; run < 60; ++run) {  // short, so that some runs are not interrupted
    const auto start = Clock::now();
    for (int i = 0; i < repeats; ++i) product();
    const std::chrono::duration<double> time = Clock::now() - start;
    best = std::max(best, repeats * shape.operations() / time.count() * 1e-9);
  }
  return best;
}

template <class Product>
void report(const char* precision, int argc, char** argv) {
  std::printf(", \"%s\": {", precision);
  for (int i = 1; i < argc; ++i) {
    Shape shape;
    if (std::sscanf(argv[i], "%zux%zux%zu", &shape.m, &shape.k, &shape.n) != 3) std::exit(2);
    std::printf("%s\"%s\": %.1f", i == 1 ? "" : ", ", argv[i], rate<Product>(shape));
  }
  std::printf("}");
}

}  // namespace

int main(int argc, char** argv) {
  std::printf("{\"build\": \"%s\"", glassformer::kernels().name.data());
  report<FloatProduct>("f32", argc, argv);
  report<Int8Product>("int8", argc, argv);
  std::printf("}\n");
}

#endif
