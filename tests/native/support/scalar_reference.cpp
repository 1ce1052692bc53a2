#include "support/scalar_reference.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace glassformer::test::scalar_reference {

Matrix input_or_empty(const Inputs& inputs, const std::string& name) {
  const auto found = inputs.find(name);
  return found == inputs.end() ? Matrix() : found->second;
}

double dot(const double* a, const double* b, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

Matrix sum(Matrix a, const Matrix& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a.values[i] += b.values[i];
  return a;
}

Matrix scaled(Matrix x, double factor) {
  for (double& value : x.values) value *= factor;
  return x;
}

Matrix columns_of(const Matrix& x, std::size_t first, std::size_t count) {
  Matrix part(x.rows, count);
  for (std::size_t i = 0; i < x.rows; ++i) std::copy_n(x.row(i) + first, count, part.row(i));
  return part;
}

Matrix linear(const Matrix& x, const Matrix& weight, const Matrix& bias) {
  Matrix y(x.rows, weight.rows);
  for (std::size_t i = 0; i < y.rows; ++i) {
    for (std::size_t j = 0; j < y.columns; ++j) {
      const double product = dot(x.row(i), weight.row(j), x.columns);
      y.row(i)[j] = product + (bias.size() == 0 ? 0 : bias.values[j]);
    }
  }
  return y;
}

Matrix norm(const NormConfig& config, const Matrix& x, const Matrix& weight, const Matrix& bias) {
  Matrix y(x.rows, x.columns);
  const auto n = static_cast<double>(x.columns), eps = static_cast<double>(config.eps);
  for (std::size_t i = 0; i < x.rows; ++i) {
    const double* const row = x.row(i);
    double mean = 0, squares = 0;
    if (config.kind != NormKind::rms) {
      for (std::size_t j = 0; j < x.columns; ++j) mean += row[j] / n;
    }
    for (std::size_t j = 0; j < x.columns; ++j) squares += (row[j] - mean) * (row[j] - mean);
    const double spread = config.kind == NormKind::unbiased ? std::sqrt(squares / (n - 1)) + eps
                                                            : std::sqrt(squares / n + eps);
    for (std::size_t j = 0; j < x.columns; ++j) {
      y.row(i)[j] =
          (row[j] - mean) / spread * weight.values[j] + (bias.size() == 0 ? 0 : bias.values[j]);
    }
  }
  return y;
}

namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
const double gelu_slope = std::sqrt(2 / std::numbers::pi);

}  // namespace

double activation(Activation activation, double x) {
  switch (activation) {
    case Activation::relu:
      return std::max(x, 0.0);
    case Activation::gelu:
      return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
    case Activation::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(gelu_slope * (x + 0.044715 * x * x * x)));
    case Activation::quick_gelu:
      return x * sigmoid(1.702 * x);
    case Activation::silu:
      return x * sigmoid(x);
    case Activation::tanh:
      return std::tanh(x);
    case Activation::linear:
      return x;
  }
  return x;
}

double activation_slope(Activation activation, double x) {
  const auto of_swish = [x](double k) {
    const double s = sigmoid(k * x);
    return s + k * x * s * (1 - s);
  };
  switch (activation) {
    case Activation::relu:
      return x > 0 ? 1 : 0;
    case Activation::gelu:
      return 0.5 * std::erfc(-x / std::numbers::sqrt2) +
             x * std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
    case Activation::gelu_tanh: {
      const double t = std::tanh(gelu_slope * (x + 0.044715 * x * x * x));
      return 0.5 * (1 + t) + 0.5 * x * (1 - t) * (1 + t) * gelu_slope * (1 + 3 * 0.044715 * x * x);
    }
    case Activation::quick_gelu:
      return of_swish(1.702);
    case Activation::silu:
      return of_swish(1);
    case Activation::tanh:
      return 1 - std::tanh(x) * std::tanh(x);
    case Activation::linear:
      return 1;
  }
  return 1;
}

Matrix activate(Activation activation, Matrix x) {
  for (double& value : x.values) value = scalar_reference::activation(activation, value);
  return x;
}

Matrix gate(Activation activation, const Matrix& gates, const Matrix& x) {
  Matrix y = activate(activation, gates);
  for (std::size_t i = 0; i < y.size(); ++i) y.values[i] *= x.values[i];
  return y;
}

Matrix rotate(const Rotation& rotation, Matrix x, std::span<const std::size_t> positions) {
  const std::size_t half = rotation.size / 2;
  for (std::size_t i = 0; i < x.rows; ++i) {
    for (std::size_t first = 0; first < x.columns; first += rotation.d_head) {
      for (std::size_t j = 0; j < half; ++j) {
        const double exponent = -2.0 * static_cast<double>(j) / static_cast<double>(rotation.size);
        const double angle = static_cast<double>(positions[i]) * std::pow(rotation.base, exponent);
        double &a = x.row(i)[first + j], &b = x.row(i)[first + half + j];
        const double turned = a * std::cos(angle) - b * std::sin(angle);
        b = b * std::cos(angle) + a * std::sin(angle);
        a = turned;
      }
    }
  }
  return x;
}

namespace {

// One head's part of one segment.
struct Head {
  const Attention& attention;
  const RowSegment& segment;
  const Matrix &q, &k, &v, &bias;
  std::size_t head;

  std::size_t key_column() const {
    return head / (attention.n_heads / attention.n_kv_heads) * attention.d_head;
  }
  const double* query(std::size_t i) const {
    return q.row(segment.first + i) + head * attention.d_head;
  }
  const double* key(std::size_t j) const { return k.row(segment.key_base + j) + key_column(); }
  const double* value(std::size_t j) const { return v.row(segment.key_base + j) + key_column(); }
};

bool is_within(const Reach& reach, std::size_t query, std::size_t key) {
  return key <= query ? query - key <= reach.before : key - query <= reach.behind;
}

// e^score, or 0 if the query does not attend to the key.
double softmax_weight(const Head& of, std::size_t i, std::size_t j) {
  const Attention& attention = of.attention;
  if (!is_within(*attention.reach, i, j)) return 0;
  double score = dot(of.query(i), of.key(j), attention.d_head) / attention.divisor;
  if (attention.relative) {
    const auto behind = static_cast<std::ptrdiff_t>(j) - static_cast<std::ptrdiff_t>(i);
    score += of.bias.row(RelativeBias::bucket(*attention.relative, behind))[of.head];
  }
  if (attention.distances) {
    const auto behind = static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(j);
    const std::size_t row = attention.distances->row(behind), d_head = attention.d_head;
    const auto times = [&](const Matrix& table, const double* x) {
      return dot(table.row(row) + of.head * d_head, x, d_head) / attention.divisor;
    };
    if (attention.distance_k.rows > 0) score += times(attention.distance_k, of.query(i));
    if (attention.distance_q.rows > 0) score += times(attention.distance_q, of.key(j));
  }
  return std::exp(score);
}

// φ(q) · φ(k) with φ(x) = elu(x) + 1.
double linear_weight(const Head& of, std::size_t i, std::size_t j) {
  const auto feature = [](double x) { return x > 0 ? x + 1 : std::exp(x); };
  double product = 0;
  for (std::size_t c = 0; c < of.attention.d_head; ++c) {
    product += feature(of.query(i)[c]) * feature(of.key(j)[c]);
  }
  return product;
}

void attend_query(const Head& of, std::size_t i, double* context) {
  const std::size_t d_head = of.attention.d_head;
  double total = 0;
  for (const std::uint32_t j : of.segment.keys) {
    const double weight = of.attention.reach ? softmax_weight(of, i, j) : linear_weight(of, i, j);
    total += weight;
    for (std::size_t c = 0; c < d_head; ++c) context[c] += weight * of.value(j)[c];
  }
  for (std::size_t c = 0; total > 0 && c < d_head; ++c) context[c] /= total;
}

}  // namespace

Matrix attend(const Attention& attention, std::span<const RowSegment> segments, const Matrix& q,
              const Matrix& k, const Matrix& v, const Matrix& bias) {
  Matrix context(q.rows, q.columns);
  for (const RowSegment& segment : segments) {
    for (std::size_t head = 0; head < attention.n_heads; ++head) {
      const Head of = {attention, segment, q, k, v, bias, head};
      for (std::size_t i = 0; i < segment.count; ++i) {
        attend_query(of, i, context.row(segment.first + i) + head * attention.d_head);
      }
    }
  }
  return context;
}

Matrix embed(const Matrix& table, std::span<const std::int32_t> ids, double scale) {
  Matrix x(ids.size(), table.columns);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    std::copy_n(table.row(static_cast<std::size_t>(ids[i])), table.columns, x.row(i));
  }
  return scaled(x, scale);
}

Derivatives central_differences(const Function& function, Inputs inputs, const std::string& name,
                                std::span<const float> r, std::size_t every) {
  Derivatives derivatives;
  Matrix& input = inputs.at(name);
  const auto difference = [&](std::size_t i, double step) {
    const double before = input.values[i];
    input.values[i] = before + step;
    const Matrix above = function(inputs);
    input.values[i] = before - step;
    const Matrix below = function(inputs);
    input.values[i] = before;
    double sum = 0;
    for (std::size_t j = 0; j < above.size(); ++j) {
      sum += static_cast<double>(r[j]) * (above.values[j] - below.values[j]);
    }
    return sum / (2 * step);
  };
  for (std::size_t i = 0; i < input.size(); i += every) {
    derivatives.at.push_back(i);
    derivatives.values.push_back(difference(i, 1e-5));
    const double distance = std::abs(derivatives.values.back() - difference(i, 1e-6));
    derivatives.disagreement = std::max(derivatives.disagreement, distance);
  }
  return derivatives;
}

}  // namespace glassformer::test::scalar_reference
