#include "explain/interventions/value_zeroing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "explain/contrast.hpp"
#include "explain/interventions/edges.hpp"
#include "explain/interventions/row_edits.hpp"
#include "explain/traced.hpp"

namespace glassformer {
namespace {

// Returns 1 - cos(a, b); 0 if one of them is zero.
double distance(const float* a, const float* b, std::size_t n) {
  const double lengths = std::sqrt(dot(a, a, n) * dot(b, b, n));
  return lengths == 0 ? 0 : std::max(1 - dot(a, b, n) / lengths, 0.0);
}

// Divides each row of a layer by its sum. Row i's own key is i.
void to_shares(std::span<float> layer, std::size_t queries) {
  const std::size_t keys = layer.size() / queries;
  for (std::size_t i = 0; i < queries; ++i) {
    const std::span<float> row = layer.subspan(i * keys, keys);
    const float sum = std::accumulate(row.begin(), row.end(), 0.0f);
    if (sum == 0) {
      row[i] = 1;
    } else {
      for (float& share : row) share /= sum;
    }
  }
}

// Adds a · b to a sum: [rows, n] · [n, columns], where a's rows have `stride` numbers.
void add_product(const float* a, std::size_t stride, std::span<const float> b, std::size_t n,
                 std::vector<float>& sum, std::size_t columns) {
  const std::size_t size = b.size() / n, rows = sum.size() / columns;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t j = 0; j < size; ++j) {
        sum[i * columns + j] += a[i * stride + k] * b[k * size + j];
      }
    }
  }
}

std::vector<float> identity(std::size_t size) {
  std::vector<float> matrix(size * size);
  for (std::size_t i = 0; i < size; ++i) matrix[i * (size + 1)] = 1;
  return matrix;
}

// Returns the product of the layers of a stack, the last one first.
std::vector<float> product_of(const AttentionMap& layers) {
  std::vector<float> matrix = identity(layers.queries);
  for (std::size_t layer = 0; layer < layers.layers; ++layer) {
    std::vector<float> next(matrix.size());
    add_product(layers.at(layer, 0).data(), layers.keys, matrix, layers.queries, next,
                layers.queries);
    matrix = std::move(next);
  }
  return matrix;
}

// Fills column `key` of a layer with how far rows are from those that a stream has after it.
void fill_column(std::span<float> layer, std::size_t key, const float* changed,
                 const Stream& stream, std::size_t number) {
  const std::size_t keys = layer.size() / stream.tokens;
  for (std::size_t i = 0; i < stream.tokens; ++i) {
    layer[i * keys + key] = static_cast<float>(
        distance(changed + i * stream.d_model, stream.row(number + 1, i).data(), stream.d_model));
  }
}

}  // namespace

ValueZeroing::ValueZeroing(const EncoderRunner& model, const ExplainedText& text, Stream stream)
    : model_(model),
      positions_(text.positions),
      stream_(std::move(stream)),
      changes_({.layers = stream_.layers,
                .heads = 1,
                .queries = stream_.tokens,
                .keys = stream_.tokens}) {
  expect_replaceable(model->compute(), "value_zeroing");
}

void ValueZeroing::zero(std::size_t first, std::size_t count) {
  Sequences sequences;
  std::vector<float> states;
  std::vector<RowEdit> edits;
  std::vector<std::size_t> positions;
  const std::size_t size = stream_.tokens * stream_.d_model;
  const float* const input = stream_.row(layer_, 0).data();
  for (std::size_t s = 0; s < count; ++s) {
    states.insert(states.end(), input, input + size);
    positions.insert(positions.end(), positions_.begin(), positions_.end());
    edits.push_back({.sequence = s, .token = first + s});
    sequences.add(stream_.tokens);
  }
  if (!positions.empty()) sequences.set_positions(std::move(positions));
  RowEditor editor(encoder_layer_name(layer_, "self_attn.v"), sequences, edits);
  const Tensor changed = model_.block(
      sequences, layer_, const_view(states.data(), {sequences.tokens(), stream_.d_model}), &editor);
  const std::span<float> layer = changes_.at(layer_, 0);
  for (std::size_t s = 0; s < count; ++s) {
    fill_column(layer, first + s, changed.data() + s * size, stream_, layer_);
  }
}

bool ValueZeroing::step(std::size_t tokens) {
  if (layer_ == stream_.layers) return false;
  const std::size_t most = std::max<std::size_t>(tokens / stream_.tokens, 1);
  const std::size_t count = std::min(most, stream_.tokens - next_);
  zero(next_, count);
  next_ += count;
  if (next_ == stream_.tokens) {
    to_shares(changes_.at(layer_, 0), stream_.tokens);
    ++layer_;
    next_ = 0;
  }
  return layer_ < stream_.layers;
}

ZeroedValues ValueZeroing::take() {
  std::vector<float> matrix = product_of(changes_);
  return {std::move(changes_), std::move(matrix), {}};
}

NextValueZeroing::NextValueZeroing(const WriterRunner& model, const DecodedText& text)
    : model_(model), text_(text) {
  expect_replaceable(model->compute(), "value_zeroing");
  const auto add = [&](bool encoder, const Stack& stack, std::vector<TracedTensor> trace,
                       std::size_t more) {
    const std::size_t layers = stack.config().layers.size();
    Stream stream = stream_of(trace, layers, encoder ? "encoder" : "decoder");
    const std::size_t tokens = stream.tokens;
    parts_.push_back({encoder,
                      std::move(stream),
                      {.layers = layers, .heads = 1, .queries = tokens, .keys = tokens + more}});
  };
  const auto names = [](const Stack& stack, std::string_view name) {
    return TraceRequest{.names = stream_tensors(stack.config().layers.size(), name)};
  };
  std::size_t sources = 0;
  if (text.source) {
    const Stack& stack = model.translator().encoder().stack();
    sources = text.source->sources.tokens();
    Seq2Seq::Encoded encoded =
        model.translator().encode(text.source->sources, names(stack, "encoder"), model.session);
    add(true, stack, std::move(encoded.traces[0]), 0);
  }
  const Stack& stack = model->decoder().stack();
  add(false, stack, run_to_next_token(model, text, names(stack, "decoder")).trace, sources);
}

void NextValueZeroing::zero(Part& part, std::size_t count) {
  const Stream& stream = part.stream;
  const bool cross = next_ >= stream.tokens;
  Batch sources, targets;
  std::vector<RowEdit> edits;
  std::vector<float> states;  // the encoder's, which a decoder reads
  for (std::size_t s = 0; s < count; ++s) {
    if (text_.source) {
      const Batch& source = text_.source->sources;
      sources.add(source.ids(), {}, source.types());
    }
    if (!part.encoder) targets.add(text_.ids);
    if (!part.encoder && text_.source) {
      const Tensor& of_source = text_.source->states;
      states.insert(states.end(), of_source.data(), of_source.data() + of_source.size());
    }
    edits.push_back({.sequence = s, .token = next_ + s - (cross ? stream.tokens : 0)});
  }
  const WholePass pass(std::move(sources), std::move(targets));
  const Batch& values = part.encoder || cross ? pass.sources() : pass.targets();
  RowEditor editor(layer_name(part.encoder ? "encoder" : "decoder", layer_,
                              cross ? "encoder_attn.v" : "self_attn.v"),
                   values, edits);
  Session& session = model_.session;
  session.arena.clear();
  Run run(session, &editor);
  const View x = run.make(count * stream.tokens, stream.d_model);
  const std::size_t size = stream.tokens * stream.d_model;
  for (std::size_t s = 0; s < count; ++s) {
    std::copy_n(stream.row(layer_, 0).data(), size, x.data() + s * size);
  }
  if (part.encoder) {
    pass.encoder_block(model_.translator(), layer_, x, run);
  } else {
    const std::size_t rows = pass.sources().tokens();
    const ConstView read = const_view(states.data(), {rows, rows == 0 ? 0 : states.size() / rows});
    pass.decoder_block(model_.model, layer_, text_.source ? &read : nullptr, x, run);
  }
  for (std::size_t s = 0; s < count; ++s) {
    fill_column(part.changes.at(layer_, 0), next_ + s, x.data() + s * size, stream, layer_);
  }
}

bool NextValueZeroing::step(std::size_t tokens) {
  Part& part = parts_[part_];
  const std::size_t own = part.stream.tokens, keys = part.changes.keys;
  const std::size_t end = next_ < own ? own : keys;  // of one attention
  const std::size_t count = std::min(std::max<std::size_t>(tokens / own, 1), end - next_);
  zero(part, count);
  next_ += count;
  if (next_ < keys) return true;
  to_shares(part.changes.at(layer_, 0), own);
  next_ = 0;
  if (++layer_ < part.stream.layers) return true;
  layer_ = 0;
  return ++part_ < parts_.size();
}

ZeroedValues NextValueZeroing::take() {
  AttentionMap& layers = parts_.back().changes;
  const std::size_t rows = layers.queries, columns = layers.keys, sources = columns - rows;
  const std::vector<float> encoder =
      text_.source ? product_of(parts_.front().changes) : std::vector<float>();
  std::vector<float> matrix(rows * columns);
  for (std::size_t i = 0; i < rows; ++i) matrix[i * columns + i] = 1;
  for (std::size_t layer = 0; layer < layers.layers; ++layer) {
    const float* const shares = std::as_const(layers).at(layer, 0).data();
    std::vector<float> next(matrix.size());
    add_product(shares, columns, matrix, rows, next, columns);
    if (sources > 0) {
      std::vector<float> led(rows * sources);
      add_product(shares + rows, columns, encoder, sources, led, sources);
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < sources; ++j) {
          next[i * columns + rows + j] += led[i * sources + j];
        }
      }
    }
    matrix = std::move(next);
  }
  expect_finite(matrix);
  std::vector<float> scores(matrix.end() - static_cast<std::ptrdiff_t>(columns), matrix.end());
  return {std::move(layers), std::move(matrix), std::move(scores)};
}

}  // namespace glassformer
