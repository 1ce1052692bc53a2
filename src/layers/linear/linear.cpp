#include "layers/linear/linear.hpp"

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "kernels/packed/half_matrix.hpp"
#include "kernels/packed/int4_matrix.hpp"
#include "kernels/packed/int8_matrix.hpp"
#include "kernels/packed/matrix.hpp"
#include "kernels/threaded.hpp"
#include "layers/elementwise/elementwise.hpp"

namespace glassformer {
namespace {

// The matrix allocates memory when its first weights are set, so there is no allocation for missing
// weights.
template <typename Matrix>
class PackedWeight : public LinearWeight {
 public:
  PackedWeight(std::size_t in, std::size_t out) : in_(in), out_(out) {}
  explicit PackedWeight(Matrix matrix)
      : in_(matrix.k()), out_(matrix.n()), matrix_(std::move(matrix)) {}

  std::size_t in() const override { return in_; }
  std::size_t out() const override { return out_; }

  void copy_output(std::size_t output, std::span<float> weights) const override {
    matrix().copy_column(output, weights);
  }

 protected:
  // Reads the rows of a parameter that is stored as outputs `first` …
  NamedParameter::Get reader(std::size_t first) const {
    return [this, first](std::size_t row, std::span<float> weights) {
      copy_output(first + row, weights);
    };
  }
  bool is_set() const { return matrix_.has_value(); }
  Matrix& writable() { return matrix_ ? *matrix_ : matrix_.emplace(in_, out_); }
  const Matrix& matrix() const {
    if (!matrix_) throw_error(ErrorCode::internal, "a linear layer has no weights yet");
    return *matrix_;
  }

 private:
  std::size_t in_, out_;
  std::optional<Matrix> matrix_;  // [in, out]
};

struct Part {
  std::size_t first, count;  // rows
};

constexpr std::size_t spread_block = 144;  // rows copied together, as many as a product's block
constexpr std::size_t least_spread_rows = 9, least_spread_columns = 128;  // else it takes longer

// Calls multiply(rows, stride, part) for the rows of x: for blocks of copies that are further apart
// if the rows share a place of the cache, as with the widths 1024 and 3072, else for all. An arena
// that holds would keep the copies of every layer.
template <typename Multiply>
void each_spread_block(const ConstView& x, std::size_t columns, Session& session,
                       const Multiply& multiply) {
  const std::size_t n = x.shape(0), width = x.shape(1);
  const bool few = (n > 0 && n < least_spread_rows) || columns < least_spread_columns;
  if (!share_a_place(width * sizeof(float)) || few || session.arena.holds()) {
    return multiply(x.data(), width, Part{0, n});
  }
  const Arena::Scope scope(session.arena);
  const std::size_t stride = width + cache_line / sizeof(float);
  float* const copies = session.arena.make_block(n, stride, spread_block).data();
  for (std::size_t first = 0; first < n; first += spread_block) {
    const Part part = {first, std::min(spread_block, n - first)};
    session.pool.split(part.count, 1, 16384 / width, [&](std::size_t row, std::size_t end) {
      for (; row < end; ++row) {
        std::copy_n(x.data() + (first + row) * width, width, copies + row * stride);
      }
    });
    multiply(copies, stride, part);
  }
}

// Weights in 16 bits are kept as they are, if all of them have one format.
class FloatWeight final : public PackedWeight<PackedMatrix> {
 public:
  using PackedWeight::PackedWeight;
  explicit FloatWeight(PackedHalfMatrix halves)
      : PackedWeight(halves.k(), halves.n()), halves_(std::move(halves)) {}

  std::unique_ptr<LinearWeight> select(std::span<const std::int32_t> outputs) const override {
    if (has_halves()) return std::make_unique<FloatWeight>(halves_->select(outputs));
    return std::make_unique<FloatWeight>(matrix().select(outputs));
  }

  void copy_output(std::size_t output, std::span<float> weights) const override {
    if (has_halves()) return halves_->copy_column(output, weights);
    PackedWeight::copy_output(output, weights);
  }

  void declare(const ParameterScope& scope, std::size_t first, std::size_t outputs,
               Parameter& storage) override {
    scope.declare(
        "weight", {outputs, in()},
        [this, first](std::span<const float> values, std::size_t row) {
          widen();
          for (std::size_t i = 0; i < values.size() / in(); ++i) {
            writable().set_column(first + row + i, values.subspan(i * in(), in()));
          }
        },
        reader(first), &storage, first * in());
    if (!keeps_halves) return;
    scope.keep_last_halves(
        [this, first](std::span<const std::uint16_t> values, Half format, std::size_t row) {
          if (is_set() || product_of(format) == nullptr) return false;
          if (!halves_) halves_.emplace(in(), out(), format);
          if (halves_->format() != format) return false;
          for (std::size_t i = 0; i < values.size() / in(); ++i) {
            halves_->set_column(first + row + i, values.subspan(i * in(), in()));
          }
          return true;
        });
  }

  void multiply(const ConstView& x, const float* bias, Epilogue epilogue, Activation activation,
                View y, Session& session) const override {
    each_spread_block(x, out(), session, [&](const float* rows, std::size_t stride, Part part) {
      const auto arguments = [&](const auto& matrix) {
        return FloatMatmulArgs{.a = rows,
                               .a_stride = stride,
                               .b = matrix.data(),
                               .panel_stride = matrix.panel_stride(),
                               .bias = bias,
                               .c = y.data() + part.first * out(),
                               .c_stride = out(),
                               .m = part.count,
                               .n = out(),
                               .k = in(),
                               .epilogue = epilogue,
                               .activation = activation};
      };
      if (!has_halves()) return matmul(arguments(matrix()), session.pool);
      matmul(arguments(*halves_), product_of(halves_->format()), session.pool);
    });
  }

 private:
  static auto product_of(Half format) -> void (*)(const HalfMatmulArgs&) {
    return format == Half::f16 ? kernels().matmul_f16 : kernels().matmul_bf16;
  }

  bool has_halves() const { return keeps_halves && halves_; }

  // Makes floats of all weights.
  void widen() {
    if (!has_halves()) return;
    std::vector<float> column(in());
    for (std::size_t output = 0; output < out(); ++output) {
      halves_->copy_column(output, column);
      writable().set_column(output, column);
    }
    halves_.reset();
  }

  std::optional<PackedHalfMatrix> halves_;
};

constexpr std::size_t quantized_block = 48;  // rows per thread that are quantized together

// Calls multiply(x, y, rows, integers) for blocks of the rows of x, so that their integers, in
// memory for rows of `columns`, are still in the cache when they are multiplied.
template <typename Multiply>
void each_block(const ConstView& x, View y, std::size_t columns, Session& session,
                const Multiply& multiply) {
  const std::size_t stride = kernels().quantized_row_bytes(columns);
  const std::size_t most = quantized_block * session.pool.threads();
  Arena& arena = session.arena;
  const Arena::Scope scope(arena);
  const QuantizedRows integers = {
      .values = arena.make_bytes(most * stride),
      .stride = stride,
      .scales = reinterpret_cast<float*>(arena.make_bytes(most * sizeof(float))),
      .zero_points =
          reinterpret_cast<std::int32_t*>(arena.make_bytes(most * sizeof(std::int32_t)))};
  const std::size_t n = x.shape(0);
  for (std::size_t first = 0; first < n; first += most) {
    multiply(x.data() + first * x.shape(1), y.data() + first * y.shape(1),
             std::min(most, n - first), integers);
  }
}

class Int8Weight final : public PackedWeight<PackedInt8Matrix> {
 public:
  using PackedWeight::PackedWeight;

  std::unique_ptr<LinearWeight> select(std::span<const std::int32_t> outputs) const override {
    return std::make_unique<Int8Weight>(matrix().select(outputs));
  }

  void declare(const ParameterScope& scope, std::size_t first, std::size_t outputs,
               Parameter&) override {
    scope.declare_integers(
        "weight", {outputs, in()}, 8,
        [this, first](std::span<const std::int8_t> values, std::span<const float> scales,
                      std::size_t row) {
          for (std::size_t i = 0; i < scales.size(); ++i) {
            writable().set_column(first + row + i, values.subspan(i * in(), in()), scales[i]);
          }
        },
        reader(first));
  }

  void multiply(const ConstView& x, const float* bias, Epilogue epilogue, Activation activation,
                View y, Session& session) const override {
    each_block(x, y, in(), session,
               [&](const float* from, float* to, std::size_t rows, const QuantizedRows& integers) {
                 matmul_int8(from,
                             {.a = integers,
                              .b = matrix().data(),
                              .panel_stride = matrix().panel_stride(),
                              .scales = matrix().scales(),
                              .sums = matrix().sums(),
                              .bias = bias,
                              .c = to,
                              .c_stride = out(),
                              .m = rows,
                              .n = out(),
                              .k = in(),
                              .epilogue = epilogue,
                              .activation = activation},
                             session.pool);
               });
  }
};

class Int4Weight final : public PackedWeight<PackedInt4Matrix> {
 public:
  using PackedWeight::PackedWeight;

  std::unique_ptr<LinearWeight> select(std::span<const std::int32_t> outputs) const override {
    return std::make_unique<Int4Weight>(matrix().select(outputs));
  }

  void declare(const ParameterScope& scope, std::size_t first, std::size_t outputs,
               Parameter&) override {
    scope.declare_integers(
        "weight", {outputs, in()}, 4,
        [this, first](std::span<const std::int8_t> values, std::span<const float> scales,
                      std::size_t row) {
          const std::size_t groups = writable().groups();
          for (std::size_t i = 0; i < values.size() / in(); ++i) {
            writable().set_column(first + row + i, values.subspan(i * in(), in()),
                                  scales.subspan(i * groups, groups));
          }
        },
        reader(first));
  }

  void multiply(const ConstView& x, const float* bias, Epilogue epilogue, Activation activation,
                View y, Session& session) const override {
    each_block(x, y, matrix().groups() * int4_group, session,
               [&](const float* from, float* to, std::size_t rows, const QuantizedRows& integers) {
                 matmul_int4(from,
                             {.a = integers,
                              .b = matrix().data(),
                              .panel_stride = matrix().panel_stride(),
                              .sums = matrix().sums(),
                              .bias = bias,
                              .c = to,
                              .c_stride = out(),
                              .m = rows,
                              .n = out(),
                              .k = in(),
                              .epilogue = epilogue,
                              .activation = activation},
                             session.pool);
               });
  }
};

std::unique_ptr<LinearWeight> make_weight(std::size_t in, std::size_t out, Compute compute) {
  if (compute == Compute::int8) return std::make_unique<Int8Weight>(in, out);
  if (compute == Compute::int4) return std::make_unique<Int4Weight>(in, out);
  return std::make_unique<FloatWeight>(in, out);
}

// The products read whole panels.
AlignedBuffer padded_bias(std::size_t outputs) {
  const std::size_t width = kernels().panel_width;
  return AlignedBuffer((outputs + width - 1) / width * width);
}

}  // namespace

Linear::Linear(std::size_t in, std::size_t out, Compute compute)
    : Linear(make_weight(in, out, compute), {}) {}

Linear::Linear(std::unique_ptr<LinearWeight> weight, AlignedBuffer bias)
    : weight_(std::move(weight)) {
  storage_.shape = {out(), in()};
  bias_.shape = {out()};
  bias_.value = std::move(bias);
}

Linear Linear::select(std::span<const std::int32_t> outputs) const {
  AlignedBuffer selected;
  if (!bias_.value.empty()) {
    selected = padded_bias(outputs.size());
    std::transform(outputs.begin(), outputs.end(), selected.begin(), [this](std::int32_t output) {
      return bias_.value[static_cast<std::size_t>(output)];
    });
  }
  return Linear(weight_->select(outputs), std::move(selected));
}

void Linear::declare(const ParameterScope& scope, std::size_t first, std::size_t outputs,
                     Bias bias) {
  weight_->declare(scope, first, outputs, storage_);
  if (bias == Bias::present) declare_bias(scope, first, outputs);
}

void Linear::declare_bias(const ParameterScope& scope, std::size_t first, std::size_t outputs) {
  scope.declare(
      "bias", {outputs},
      [this, first](std::span<const float> values, std::size_t) {
        if (bias_.value.empty()) bias_.value = padded_bias(out());
        std::ranges::copy(values, bias_.value.data() + first);
      },
      [this, first](std::size_t row, std::span<float> value) {
        if (bias_.value.empty()) throw_error(ErrorCode::internal, "a linear layer has no bias yet");
        value[0] = bias_.value[first + row];
      },
      &bias_, first);
}

void Linear::operator()(const ConstView& x, View y, Session& session, Epilogue epilogue) const {
  multiply(x, bias_or_null(), epilogue, Activation::linear, y, session);
}

void Linear::operator()(const ConstView& x, View y, const Run& run, Epilogue epilogue) const {
  (*this)(x, y, run.session(), epilogue);
  if (!run.tape()) return;
  run.tape()->record([this, x, y](Tape& tape) { linear_backward(*this, x, const_view(y), tape); });
}

void Linear::operator()(const ConstView& x, View y, const Run& run, Activation activation) const {
  if (!run.tape()) {
    multiply(x, bias_or_null(), Epilogue::store, activation, y, run.session());
    return;
  }
  (*this)(x, y, run);
  activate(activation, y, run);
}

void Linear::add_to(View sum, const ConstView& x, const Run& run, std::string_view name,
                    std::size_t first) const {
  const bool drops = run.tape() && run.tape()->dropout > 0;
  if (!run.traces(name) && !drops) return (*this)(x, sum, run, Epilogue::accumulate);
  const Arena::Scope scope(run.arena());
  View added = run.make(x.shape(0), out());
  (*this)(x, added, run);
  run.done(name, added, first);
  run.drop(added);
  add(sum, const_view(added), run);
}

void Linear::multiply(const ConstView& x, View y, Session& session) const {
  multiply(x, nullptr, Epilogue::store, Activation::linear, y, session);
}

void Linear::multiply(const ConstView& x, const float* bias, Epilogue epilogue,
                      Activation activation, View y, Session& session) const {
  expect_shape("x of a linear layer", x, {x.shape(0), in()});
  expect_shape("y of a linear layer", y, {x.shape(0), out()});
  weight_->multiply(x, bias, epilogue, activation, y, session);
}

}  // namespace glassformer
