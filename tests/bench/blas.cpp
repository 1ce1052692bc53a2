// Compares the project's matrix products with OpenBLAS (f32) and oneDNN (8-bit integers), on one
// thread in one process:
//
//   OMP_NUM_THREADS=1 ONEDNN_MAX_CPU_ISA=AVX512_CORE_VNNI blas_probe MxKxN...
//
// prints [{"precision", "shape", "peer", "ours", "theirs", "ratio"}], with rates in billions of
// operations per second. The two alternate in rounds; the medians are reported. A ratio above 1
// means that ours is faster.
#include <cblas.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <dnnl.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "products.hpp"

namespace {

using glassformer::FloatProduct;
using glassformer::Int8Product;
using glassformer::Shape;

class OpenBlasProduct {
 public:
  explicit OpenBlasProduct(const Shape& shape)
      : shape_(shape),
        a_(shape.m * shape.k, 0.5f),
        b_(shape.k * shape.n, 0.25f),
        c_(shape.m * shape.n) {}

  void operator()() {
    const auto m = static_cast<int>(shape_.m), k = static_cast<int>(shape_.k),
               n = static_cast<int>(shape_.n);
    if (m == 1) {
      cblas_sgemv(CblasRowMajor, CblasTrans, k, n, 1, b_.data(), n, a_.data(), 1, 0, c_.data(), 1);
    } else {
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a_.data(), k, b_.data(), n,
                  0, c_.data(), n);
    }
  }

 private:
  Shape shape_;
  std::vector<float> a_, b_, c_;
};

/// Multiplies unsigned by signed bytes to floats, with a scale per column and the weights in
/// oneDNN's preferred layout.
class OneDnnProduct {
 public:
  explicit OneDnnProduct(const Shape& shape)
      : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    using dnnl::memory;
    const auto m = static_cast<memory::dim>(shape.m), k = static_cast<memory::dim>(shape.k),
               n = static_cast<memory::dim>(shape.n);
    const memory::desc a({m, k}, memory::data_type::u8, memory::format_tag::ab);
    const memory::desc b({k, n}, memory::data_type::s8, memory::format_tag::any);
    const memory::desc bias({1, n}, memory::data_type::f32, memory::format_tag::ab);
    const memory::desc c({m, n}, memory::data_type::f32, memory::format_tag::ab);
    dnnl::primitive_attr attributes;
    attributes.set_output_scales(1 << 1, std::vector<float>(shape.n, 0.01f));
    const dnnl::matmul::primitive_desc description({a, b, bias, c}, attributes, engine_);
    product_ = dnnl::matmul(description);
    arguments_ = {{DNNL_ARG_SRC, filled(a, 64)},
                  {DNNL_ARG_WEIGHTS, filled(description.weights_desc(), 3)},
                  {DNNL_ARG_BIAS, filled(bias, 0)},
                  {DNNL_ARG_DST, filled(c, 0)}};
  }

  void operator()() {
    product_.execute(stream_, arguments_);
    stream_.wait();
  }

 private:
  dnnl::memory filled(const dnnl::memory::desc& description, unsigned char byte) {
    dnnl::memory memory(description, engine_);
    auto* const bytes = static_cast<unsigned char*>(memory.get_data_handle());
    std::fill_n(bytes, description.get_size(), byte);
    return memory;
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::matmul product_;
  std::unordered_map<int, dnnl::memory> arguments_;
};

template <class Product>
double seconds(Product& product, int repeats) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repeats; ++i) product();
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  return time.count() / repeats;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

template <class Ours, class Theirs>
std::string compare(const char* precision, const char* peer, const std::string& name,
                    const Shape& shape) {
  Ours ours(shape);
  Theirs theirs(shape);
  const int repeats = static_cast<int>(std::max(1.0, 1e7 / shape.operations()));
  std::vector<double> our_times, their_times;
  for (int round = 0; round < 101; ++round) {
    our_times.push_back(seconds(ours, repeats));
    their_times.push_back(seconds(theirs, repeats));
  }
  const double mine = median(our_times), other = median(their_times);
  char text[200];
  std::snprintf(text, sizeof text,
                "{\"precision\": \"%s\", \"shape\": \"%s\", \"peer\": \"%s\", \"ours\": %.1f, "
                "\"theirs\": %.1f, \"ratio\": %.3f}",
                precision, name.c_str(), peer, shape.operations() / mine * 1e-9,
                shape.operations() / other * 1e-9, other / mine);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> rows;
  for (int i = 1; i < argc; ++i) {
    Shape shape;
    if (std::sscanf(argv[i], "%zux%zux%zu", &shape.m, &shape.k, &shape.n) != 3) return 2;
    rows.push_back(compare<FloatProduct, OpenBlasProduct>("f32", "OpenBLAS", argv[i], shape));
    rows.push_back(compare<Int8Product, OneDnnProduct>("int8", "oneDNN", argv[i], shape));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::printf("%s%s", i == 0 ? "[" : ",\n ", rows[i].c_str());
  }
  std::printf("]\n");
}
