#include "explain/readings/score_attribution.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.hpp"
#include "base/powers.hpp"
#include "explain/readings/rollout.hpp"

namespace glassformer {
namespace {

const Attention& attention_of(const AttendingStacks& stacks, const ScorePlace& place) {
  const Block& block = stacks.queries.stack.block(place.layer);
  return place.attention == AttentionSite::cross ? block.encoder_attn() : block.self_attn();
}

const char* sublayer(AttentionSite attention) {
  return attention == AttentionSite::cross ? "encoder_attn" : "self_attn";
}

bool pre_norm(const Stack& stack, std::size_t layer) {
  return stack.config().layers[layer].norm == NormPlacement::pre;
}

// Returns cap · tanh(score / cap).
double capped_by(double cap, double score) {
  return cap * (2 / (1 + std::exp(-2 * score / cap)) - 1);
}

// Returns the columns of a stack's parts that are written before an attention's queries or keys.
std::vector<std::size_t> columns_before(const std::vector<LogitColumn>& columns,
                                        const ScorePlace& place, Attention::Side side) {
  using Kind = LogitColumn::Kind;
  const bool cross = place.attention == AttentionSite::cross;
  std::vector<std::size_t> before;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const auto& [kind, layer, head] = columns[c];
    const bool of_layer = kind == Kind::head || kind == Kind::recurrent ||
                          kind == Kind::cross_head || kind == Kind::feed_forward;
    const bool own = kind == Kind::head || kind == Kind::recurrent;
    const bool all = cross && side == Attention::Side::key;
    if (!of_layer || all || layer < place.layer || (cross && own && layer == place.layer)) {
      before.push_back(c);
    }
  }
  return before;
}

}  // namespace

std::string attention_name(AttentionSite attention, std::size_t layer) {
  const char* const stack = attention == AttentionSite::encoder ? "encoder" : "decoder";
  return layer_name(stack, layer, sublayer(attention));
}

std::optional<NamedAttention> read_attention_name(std::string_view name) {
  constexpr std::string_view layers = ".layers.";
  const std::size_t at = name.find(layers);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = name.substr(at + layers.size());
  std::size_t layer = 0;
  const auto [end, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), layer);
  if (failed != std::errc()) return std::nullopt;
  for (const AttentionSite site :
       {AttentionSite::encoder, AttentionSite::decoder, AttentionSite::cross}) {
    if (attention_name(site, layer) == name) return NamedAttention{site, layer};
  }
  return std::nullopt;
}

ScoreTensors score_tensors(const AttendingStacks& stacks, const ScorePlace& place) {
  const bool cross = place.attention == AttentionSite::cross;
  const Stack& stack = stacks.queries.stack;
  const std::string_view name = stacks.queries.name;
  expect_residuals(stack.config(), "score");
  ScoreTensors tensors = {.queries = ledger_tensors(stack, name, place.layer + (cross ? 1 : 0))};
  const auto add = [&](std::string_view tensor) {
    std::string whole = layer_name(name, place.layer, tensor);
    if (std::ranges::find(tensors.queries, whole) == tensors.queries.end()) {
      tensors.queries.push_back(std::move(whole));
    }
  };
  for (const char* part : {".q", ".k", ".scores", ".weights"}) {
    add(std::string(sublayer(place.attention)) + part);
  }
  add("input");
  const Block& block = stack.block(place.layer);
  if (!cross) {
    if (pre_norm(stack, place.layer) && block.self_attn_layer_norm()) add("self_attn_layer_norm");
    return tensors;
  }
  if (pre_norm(stack, place.layer)) add("self_attn.residual");
  const Stack& encoder = stacks.keys.stack;
  expect_residuals(encoder.config(), "score");
  const std::size_t layers = encoder.config().layers.size();
  tensors.keys = ledger_tensors(encoder, stacks.keys.name, layers);
  tensors.keys.push_back(layer_name(stacks.keys.name, layers - 1, "output"));
  return tensors;
}

ScoreReading::ScoreReading(const AttendingStacks& stacks, const ScorePlace& place,
                           std::span<const TracedTensor> trace, Session& session)
    : stacks_(stacks),
      place_(place),
      trace_(trace),
      session_(session),
      attention_(attention_of(stacks_, place)),
      q_proj_(attention_.frozen_projection(Side::query, place.head)),
      k_proj_(attention_.frozen_projection(Side::key, place.head)),
      v_proj_(attention_.frozen_projection(Side::value, place.head)),
      q_(find_traced(trace, attention_name(place.attention, place.layer) + ".q")),
      k_(find_traced(trace, attention_name(place.attention, place.layer) + ".k")),
      scores_(find_traced(trace, attention_name(place.attention, place.layer) + ".scores")),
      weights_(find_traced(trace, attention_name(place.attention, place.layer) + ".weights")),
      queries_(q_.shape[0]),
      keys_(k_.shape[0]),
      d_head_(attention_.config().d_head) {
  if (!sees(place.query, place.key)) {
    throw_error(ErrorCode::invalid_option,
                {"key: expected one that query {} sees, got {}, which is masked",
                 {place.query, place.key}});
  }
  const auto columns = [&](Side side) {
    const StreamLedger ledger(stack(side), Compute::f32, trace_);
    return columns_before(ledger.columns(), place_, side);
  };
  query_columns_ = columns(Side::query);
  key_columns_ = columns(Side::key);
}

const float* ScoreReading::query_of(std::size_t row) const {
  return q_.data.data() + (row * q_.shape[1] + place_.head) * d_head_;
}

const float* ScoreReading::key_of(std::size_t row) const {
  const std::size_t shared = q_.shape[1] / k_.shape[1];
  return k_.data.data() + (row * k_.shape[1] + place_.head / shared) * d_head_;
}

float ScoreReading::score(std::size_t query, std::size_t key) const {
  return scores_.data[(place_.head * queries_ + query) * keys_ + key];
}

float ScoreReading::weight(std::size_t query, std::size_t key) const {
  return weights_.data[(place_.head * queries_ + query) * keys_ + key];
}

bool ScoreReading::sees(std::size_t query, std::size_t key) const {
  return std::isfinite(score(query, key));
}

Attention::Distance ScoreReading::distance(std::size_t query, std::size_t key) const {
  return attention_.distance(place_.head, query, key, std::max(queries_, keys_), session_);
}

double ScoreReading::uncapped(std::size_t query, std::size_t key) const {
  const auto& cap = attention_.config().score_cap;
  const auto capped = static_cast<double>(score(query, key));
  if (!cap) return capped;
  const auto limit = static_cast<double>(*cap);
  return limit / 2 * logarithm((limit + capped) / (limit - capped));
}

double ScoreReading::slope(std::size_t query, std::size_t key) const {
  const double before = uncapped(query, key);
  return before == 0 ? 1 : static_cast<double>(score(query, key)) / before;
}

ScoreReading::Factors ScoreReading::only_this() const {
  Factors factors(queries_ * keys_);
  factors[place_.query * keys_ + place_.key] = 1;
  return factors;
}

ScoreReading::Factors ScoreReading::lead_over(const Rivals& rivals) const {
  Factors factors = only_this();
  double* const row = factors.data() + place_.query * keys_;
  if (rivals.key) {
    if (!sees(place_.query, *rivals.key)) {
      throw_error(ErrorCode::invalid_option,
                  {"rival: expected a key that query {} sees, got {}, which is masked",
                   {place_.query, *rivals.key}});
    }
    row[*rivals.key] -= 1;
    return factors;
  }
  for (std::size_t k = 0; k < keys_; ++k) {
    row[k] -= static_cast<double>(weight(place_.query, k));
  }
  return factors;
}

void ScoreReading::read_row(Side side, std::size_t row, std::span<const float> gradient,
                            StreamLedger& ledger) const {
  const bool own = place_.attention != AttentionSite::cross;
  const float* input = nullptr;  // of the projection, which reads it if it has a norm
  if (own) {
    const auto& [stack, stack_input, name] = stacks_.queries;
    const bool normed =
        pre_norm(stack, place_.layer) && stack.block(place_.layer).self_attn_layer_norm();
    const TracedTensor& rows = find_traced(
        trace_, layer_name(name, place_.layer, normed ? "self_attn_layer_norm" : "input"));
    input = rows.data.data() + row * rows.shape[1];
  }
  const FrozenProjection& projection = side == Side::query ? q_proj_
                                       : side == Side::key ? k_proj_
                                                           : v_proj_;
  const FrozenProjection::Input led = projection.lead_back(gradient, input, row, session_);
  ledger.read_row(row, led.gradient);
  ledger.enter(row, LogitColumn::Kind::bias, led.biases);
}

void ScoreReading::lead_back(Side side, StreamLedger& ledger) const {
  const Stack& stack = this->stack(side).stack;
  const std::string_view name = this->stack(side).name;
  const bool cross = place_.attention == AttentionSite::cross;
  if (cross && side == Side::key) return ledger.lead_back_stack();
  const Block& block = stack.block(place_.layer);
  const auto traced = [&](const char* tensor) -> const std::vector<float>& {
    return find_traced(trace_, layer_name(name, place_.layer, tensor)).data;
  };
  if (pre_norm(stack, place_.layer)) {
    const Norm* const norm = cross ? block.encoder_attn_layer_norm() : block.self_attn_layer_norm();
    if (norm) ledger.lead_back_norm(*norm, traced(cross ? "self_attn.residual" : "input"));
  }
  if (cross) ledger.lead_back_self_attention(place_.layer);
  ledger.lead_back_layers(place_.layer);
}

ScoreReading::Sum ScoreReading::sum(Side side, const Factors& factors) const {
  const auto divisor = static_cast<double>(attention_.divisor());
  const bool of_queries = side == Side::query;
  StreamLedger ledger(stack(side), Compute::f32, trace_);
  Sum sum;
  for (std::size_t row = 0; row < rows(side); ++row) {
    std::vector<double> gradient(d_head_);
    bool any = false;
    for (std::size_t other = 0; other < (of_queries ? keys_ : queries_); ++other) {
      const std::size_t query = of_queries ? row : other, key = of_queries ? other : row;
      if (factors[query * keys_ + key] == 0 || !sees(query, key)) continue;
      any = true;
      const double factor = factors[query * keys_ + key] * slope(query, key);
      const Attention::Distance added = distance(query, key);
      const float* const vector = of_queries ? key_of(key) : query_of(query);
      const auto [by_row, with_row] =
          of_queries ? std::pair(added.query, added.key) : std::pair(added.key, added.query);
      for (std::size_t e = 0; e < d_head_; ++e) {
        const double with = with_row.empty() ? 0.0 : static_cast<double>(with_row[e]);
        gradient[e] += factor / divisor * (static_cast<double>(vector[e]) + with);
      }
      sum.distance += factor * static_cast<double>(added.bias);
      if (!by_row.empty()) sum.distance += factor / divisor * dot(by_row.data(), vector, d_head_);
    }
    const std::vector<float> rounded(gradient.begin(), gradient.end());
    if (any) read_row(side, row, rounded, ledger);
  }
  lead_back(side, ledger);
  sum.parts = ledger.take();
  return sum;
}

const TracedTensor& ScoreReading::values() const {
  return find_traced(trace_, attention_name(place_.attention, place_.layer) + ".v");
}

ScoreReading::Factors ScoreReading::moved(std::span<const float> gradients) const {
  const TracedTensor& v = values();
  const std::size_t shared = q_.shape[1] / v.shape[1];
  Factors moved(queries_ * keys_);
  for (std::size_t i = 0; i < queries_; ++i) {
    for (std::size_t k = 0; k < keys_; ++k) {
      const float* const value = v.data.data() + (k * v.shape[1] + place_.head / shared) * d_head_;
      moved[i * keys_ + k] = dot(value, gradients.data() + i * d_head_, d_head_);
    }
  }
  return moved;
}

StreamParts ScoreReading::content(std::span<const float> gradients) const {
  StreamLedger ledger(stacks_.keys, Compute::f32, trace_);
  for (std::size_t k = 0; k < keys_; ++k) {
    std::vector<double> gradient(d_head_);
    for (std::size_t i = 0; i < queries_; ++i) {
      const auto share = static_cast<double>(weight(i, k));
      if (share == 0) continue;
      for (std::size_t e = 0; e < d_head_; ++e) {
        gradient[e] += share * static_cast<double>(gradients[i * d_head_ + e]);
      }
    }
    const std::vector<float> rounded(gradient.begin(), gradient.end());
    read_row(Side::value, k, rounded, ledger);
  }
  lead_back(Side::key, ledger);
  return ledger.take();
}

namespace {

// Returns the sum of a column over all rows.
double sum_of(const StreamParts& parts, std::size_t column) {
  double sum = 0;
  for (std::size_t i = column; i < parts.written.size(); i += parts.columns.size()) {
    sum += static_cast<double>(parts.written[i]);
  }
  return sum;
}

// Returns a head's parts by the tokens that it read; of other columns, nothing.
std::vector<float> reads_of(const StreamParts& parts, std::size_t column) {
  const LogitColumn::Kind kind = parts.columns[column].kind;
  std::vector<float> reads;
  if (kind != LogitColumn::Kind::head && kind != LogitColumn::Kind::cross_head &&
      kind != LogitColumn::Kind::recurrent) {
    return reads;
  }
  for (std::size_t i = column; i < parts.read.size(); i += parts.columns.size()) {
    reads.push_back(parts.read[i]);
  }
  return reads;
}

}  // namespace

ScoreAttribution ScoreReading::sums(bool reads) const {
  ScoreAttribution result = {.score = static_cast<double>(score(place_.query, place_.key)),
                             .weight = weight(place_.query, place_.key)};
  const auto name = [&](Side side, const std::vector<std::size_t>& columns) {
    const auto [parts, distance] = sum(side, only_this());
    std::vector<ScorePart> list;
    for (const std::size_t column : columns) {
      ScorePart& part = list.emplace_back(to_string(parts.columns[column]));
      part.sum = sum_of(parts, column);
      if (reads) part.reads = reads_of(parts, column);
    }
    if (attention_.has_distances()) list.push_back({.name = "distance", .sum = distance});
    return list;
  };
  result.queries = name(Side::query, query_columns_);
  result.keys = name(Side::key, key_columns_);
  return result;
}

void ScoreReading::add_contrast(const Rivals& rivals, bool reads, ScoreAttribution& to) const {
  const Factors factors = lead_over(rivals);
  double lead = 0;
  for (std::size_t k = 0; k < keys_; ++k) {
    if (!sees(place_.query, k)) continue;
    lead += factors[place_.query * keys_ + k] * static_cast<double>(score(place_.query, k));
  }
  to.lead = lead;
  const auto add = [&](Side side, const std::vector<std::size_t>& columns,
                       std::vector<ScorePart>& list) {
    const auto [parts, distance] = sum(side, factors);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      list[c].contrast = sum_of(parts, columns[c]);
      if (reads) list[c].contrast_reads = reads_of(parts, columns[c]);
    }
    if (attention_.has_distances()) list.back().contrast = distance;
  };
  add(Side::query, query_columns_, to.queries);
  add(Side::key, key_columns_, to.keys);
}

ScoreReading::Vectors ScoreReading::vectors(Side side, bool of_all_rows) const {
  Vectors vectors;
  for (std::size_t row = 0; row < rows(side); ++row) {
    if (of_all_rows || row == this->row(side)) vectors.rows.push_back(row);
  }
  const std::vector<std::size_t>& columns = side == Side::query ? query_columns_ : key_columns_;
  vectors.values.resize(vectors.rows.size() * columns.size() * d_head_);
  std::vector<float> unit(d_head_);
  for (std::size_t e = 0; e < d_head_; ++e) {
    unit[e] = 1;
    StreamLedger ledger(stack(side), Compute::f32, trace_);
    for (const std::size_t row : vectors.rows) read_row(side, row, unit, ledger);
    lead_back(side, ledger);
    unit[e] = 0;
    const StreamParts parts = ledger.take();
    for (std::size_t r = 0; r < vectors.rows.size(); ++r) {
      const float* const written = &parts.written[vectors.rows[r] * parts.columns.size()];
      for (std::size_t c = 0; c < columns.size(); ++c) {
        vectors.values[(r * columns.size() + c) * d_head_ + e] = written[columns[c]];
      }
    }
  }
  return vectors;
}

std::vector<float> ScoreReading::cells(const Factors& factors) const {
  const auto divisor = static_cast<double>(attention_.divisor());
  const bool distances = attention_.has_distances();
  const auto row = std::span(factors).subspan(place_.query * keys_, keys_);
  const auto others = std::ranges::count_if(row, [](double factor) { return factor != 0; });
  const Vectors q = vectors(Side::query, false), k = vectors(Side::key, others > 1);
  const std::size_t rows = query_columns_.size() + (distances ? 1 : 0),
                    columns = key_columns_.size() + (distances ? 1 : 0);
  std::vector<double> sums(rows * columns);
  for (std::size_t r = 0; r < k.rows.size(); ++r) {
    const std::size_t key = k.rows[r];
    if (row[key] == 0 || !sees(place_.query, key)) continue;
    const double factor = row[key] * slope(place_.query, key);
    const Attention::Distance added = distance(place_.query, key);
    for (std::size_t b = 0; b < key_columns_.size(); ++b) {
      const float* const of_key = &k.values[(r * key_columns_.size() + b) * d_head_];
      for (std::size_t a = 0; a < query_columns_.size(); ++a) {
        sums[a * columns + b] += factor / divisor * dot(&q.values[a * d_head_], of_key, d_head_);
      }
      if (added.query.empty()) continue;
      sums[(rows - 1) * columns + b] += factor / divisor * dot(added.query.data(), of_key, d_head_);
    }
    if (!distances) continue;
    sums.back() += factor * static_cast<double>(added.bias);
    for (std::size_t a = 0; !added.key.empty() && a < query_columns_.size(); ++a) {
      sums[a * columns + columns - 1] +=
          factor / divisor * dot(&q.values[a * d_head_], added.key.data(), d_head_);
    }
  }
  return {sums.begin(), sums.end()};
}

void ScoreReading::add_cells(const Rivals& rivals, ScoreAttribution& to) const {
  to.cells = cells(only_this());
  if (to.lead) to.contrast_cells = cells(lead_over(rivals));
}

ScoreReading::Removal ScoreReading::remove(Side side, const Vectors& vectors,
                                           std::size_t part) const {
  const auto divisor = static_cast<double>(attention_.divisor());
  const std::size_t columns = side == Side::query ? query_columns_.size() : key_columns_.size();
  // Returns what the part adds to a score. `row`: of the vectors.
  const auto added_by = [&](std::size_t row, std::size_t query, std::size_t key) {
    const Attention::Distance added = distance(query, key);
    const bool of_query = side == Side::query;
    const float* const other = of_query ? key_of(key) : query_of(query);
    const std::span<const float> by_part = of_query ? added.query : added.key,
                                 with_other = of_query ? added.key : added.query;
    if (part == columns) {
      const double product = by_part.empty() ? 0.0 : dot(by_part.data(), other, d_head_);
      return static_cast<double>(added.bias) + product / divisor;
    }
    const float* const vector = &vectors.values[(row * columns + part) * d_head_];
    double product = dot(vector, other, d_head_);
    if (!with_other.empty()) product += dot(vector, with_other.data(), d_head_);
    return product / divisor;
  };
  std::vector<float> map(queries_ * keys_);
  for (std::size_t i = 0; i < map.size(); ++i) map[i] = score(i / keys_, i % keys_);
  const auto& cap = attention_.config().score_cap;
  for (std::size_t r = 0; r < vectors.rows.size(); ++r) {
    const bool of_query = side == Side::query;
    for (std::size_t other = 0; other < (of_query ? keys_ : queries_); ++other) {
      const std::size_t query = of_query ? vectors.rows[r] : other,
                        key = of_query ? other : vectors.rows[r];
      if (!sees(query, key)) continue;
      double left = uncapped(query, key) - added_by(r, query, key);
      if (cap) left = capped_by(static_cast<double>(*cap), left);
      map[query * keys_ + key] = static_cast<float>(left);
    }
  }
  const std::span<const float> row = std::span(map).subspan(place_.query * keys_, keys_);
  const float largest = *std::ranges::max_element(row);
  double sum = 0;
  for (const float score : row) sum += std::exp(static_cast<double>(score - largest));
  const double own = std::exp(static_cast<double>(row[place_.key] - largest));
  return {.patch = {.name = attention_name(place_.attention, place_.layer) + ".scores",
                    .heads = {{place_.head}},
                    .shape = {1, queries_, keys_},
                    .value = std::move(map)},
          .weight = static_cast<float>(own / sum)};
}

}  // namespace glassformer
