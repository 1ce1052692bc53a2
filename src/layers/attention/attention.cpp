#include "layers/attention/attention.hpp"

#include <algorithm>

#include "layers/attention/attention_backward.hpp"
#include "layers/attention/row_attention.hpp"

namespace glassformer {
namespace {

std::size_t projected(const AttentionConfig& config, Attention::Source source) {
  const std::size_t own = source == Attention::Source::own ? 2 * config.d_kv_heads() : 0;
  return config.d_heads() + own;
}

std::size_t longest_of(std::span<const RowSegment> segments) {
  std::size_t longest = 0;
  for (const RowSegment& segment : segments) longest = std::max(longest, segment.count);
  return longest;
}

}  // namespace

Attention::Attention(const AttentionConfig& config, std::size_t d_model, Parts parts,
                     Compute compute)
    : config_(config),
      parts_(std::move(parts)),
      qkv_proj_(d_model, projected(config, parts_.source), compute),
      out_proj_(config.d_heads(), d_model, compute) {
  if (parts_.source == Source::encoder) {
    kv_proj_.emplace(d_model, 2 * config.d_kv_heads(), compute);
  }
  if (config.rotary) rotary_.emplace(*config.rotary);
  if (config.qk_norm) {
    q_norm_ = make_norm(parts_.norm, config.d_head);
    k_norm_ = make_norm(parts_.norm, config.d_head);
  }
}

void Attention::declare(const ParameterScope& scope) {
  const std::size_t queries = config_.d_heads(), keys = config_.d_kv_heads();
  const Bias bias = bias_if(config_.bias);
  Linear& kv_proj = kv_proj_ ? *kv_proj_ : qkv_proj_;
  const std::size_t first = kv_proj_ ? 0 : queries, before = scope.count();
  qkv_proj_.declare(scope.scope("q_proj"), 0, queries, bias);
  kv_proj.declare(scope.scope("k_proj"), first, keys, bias);
  kv_proj.declare(scope.scope("v_proj"), first + keys, keys, bias);
  scope.set_head_rows(before, config_.d_head);
  out_proj_.declare(scope.scope("out_proj"), bias_if(config_.out_bias));
  if (q_norm_) q_norm_->declare(scope.scope("q_norm"));
  if (k_norm_) k_norm_->declare(scope.scope("k_norm"));
}

void Attention::add_to(View x, const ConstView& input, const Run& run) const {
  const Arena::Scope scope(run.arena());
  KeyValueRows keys;
  const Queries queries =
      parts_.source == Source::own ? project_own(input, run, keys) : project_queries(input, run);
  if (parts_.source == Source::encoder) keys = run.source_keys;
  View context = run.make(x.shape(0), config_.d_heads());  // [N, E]
  attend(queries, keys, context, run);
  run.done("context", {.data = context.data(),
                       .first = 0,
                       .count = context.shape(0),
                       .columns = config_.d_heads(),
                       .stride = config_.d_heads(),
                       .heads = config_.n_heads});
  out_proj_.add_to(x, const_view(context), run, "output");
}

Attention::Queries Attention::project_own(const ConstView& input, const Run& run,
                                          KeyValueRows& keys) const {
  const std::size_t n = input.shape(0);
  const std::size_t d_heads = config_.d_heads(), d_keys = config_.d_kv_heads();
  const std::size_t stride = d_heads + 2 * d_keys;
  View qkv = run.make(n, stride);
  qkv_proj_(input, qkv, run);
  float* const q = qkv.data();
  float* const k = q + d_heads;
  float* const v = k + d_keys;
  if (q_norm_) {
    q_norm_->apply(q, n, stride, config_.n_heads, run);
    k_norm_->apply(k, n, stride, config_.n_kv_heads, run);
  }
  if (rotary_) {
    (*rotary_)(q, stride, {config_.n_heads, config_.d_head}, run);
    (*rotary_)(k, stride, {config_.n_kv_heads, config_.d_head}, run);
  }
  CompleteRows complete = {.data = q,
                           .first = 0,
                           .count = n,
                           .columns = d_heads,
                           .stride = stride,
                           .heads = config_.n_heads};
  run.done("q", complete);
  complete.data = k;
  complete.columns = d_keys;
  complete.heads = config_.n_kv_heads;
  run.done("k", complete);
  complete.data = v;
  run.done("v", complete);

  keys = {k, v, stride};
  if (run.cache) {
    View own = run.cache->own;
    for (std::size_t i = 0; i < n; ++i) std::copy_n(k + i * stride, 2 * d_keys, &own(i, 0));
    keys = {run.cache->rows, run.cache->rows + d_keys, 2 * d_keys};
  }
  return {q, stride};
}

Attention::Queries Attention::project_queries(const ConstView& input, const Run& run) const {
  View q = run.make(input.shape(0), config_.d_heads());
  qkv_proj_(input, q, run);
  run.done("q", {.data = q.data(),
                 .first = 0,
                 .count = q.shape(0),
                 .columns = q.shape(1),
                 .stride = q.shape(1),
                 .heads = config_.n_heads});
  return {q.data(), q.shape(1)};
}

void Attention::keys_values(const ConstView& states, View kv, const Run& run) const {
  (*kv_proj_)(states, kv, run);
  CompleteRows complete = {.data = kv.data(),
                           .first = 0,
                           .count = kv.shape(0),
                           .columns = config_.d_kv_heads(),
                           .stride = kv.shape(1),
                           .heads = config_.n_kv_heads};
  run.done("k", complete);
  complete.data += config_.d_kv_heads();
  run.done("v", complete);
}

void Attention::attend(const Queries& queries, const KeyValueRows& keys, View context,
                       const Run& run) const {
  const bool own = parts_.source == Source::own;
  const std::span<const RowSegment> segments = own ? run.segments : run.source_segments;
  if (run.cache) {
    const RowAttention rows = {.config = config_,
                               .divisor = parts_.divisor,
                               .relative = own ? parts_.relative : nullptr,
                               .window = own ? config_.window : 0,
                               .segments = segments,
                               .queries = queries.data,
                               .stride = queries.stride,
                               .keys = keys,
                               .context = context};
    run.cache->attend(rows, run);
    return;
  }
  const std::size_t longest = longest_of(segments);
  if (parts_.relative) parts_.relative->reserve(std::max<std::size_t>(longest, 1), run.session());
  const Projected rows = {queries, keys, project_distances(longest, run)};
  if (run.traced() || run.tape()) {
    for (std::size_t i = 0; i < segments.size(); ++i) {
      attend_segment(i, segments[i], rows, context, run);
    }
    return;
  }
  std::uint64_t all = 0;
  for (const RowSegment& segment : segments) all += products(segment);
  const auto attend = [&](std::size_t i, std::size_t thread) {
    const RowSegment& segment = segments[i / config_.n_heads];
    const std::size_t head = i % config_.n_heads;
    parts_.kind->attend(
        input_of(head, segment, rows, run.session()),
        {.context = &context(segment.first, head * config_.d_head), .stride = context.shape(1)},
        run.session().attention(thread));
  };
  run.session().pool.each(segments.size() * config_.n_heads, all, attend);
}

HeadDistances Attention::project_distances(std::size_t longest, const Run& run) const {
  const RelativeEmbeddings* const table = parts_.distances;
  if (!table || longest == 0) return {};
  const DisentangledConfig& config = table->config();
  const std::size_t queries = config_.d_heads();
  HeadDistances distances = {.table = table};
  const auto set = [&](const float* q, std::size_t stride, const RelativeEmbeddings::Range& range) {
    if (config.position_to_content) distances.q = q;
    if (config.content_to_position) distances.k = q + queries;
    distances.stride = stride;
    distances.first = range.first;
    distances.count = range.count;
  };
  if (const std::size_t count = run.distances.shape(0); count > 0) {
    const View qkv = run.make(count, qkv_proj_.out());
    qkv_proj_(const_view(run.distances), qkv, run);
    set(qkv.data(), qkv.shape(1), {run.first_distance, count});
    return distances;
  }
  const std::size_t width = queries + config_.d_kv_heads();
  GrowingTable& kept = run.session().table(this);  // [distances, width]
  if (longest > kept.rows) {
    const std::size_t length = std::min(std::max(longest, 2 * kept.rows), table->longest());
    const RelativeEmbeddings::Range range = table->range(length);
    const Arena::Scope scope(run.arena());
    const Run plain(run.session());
    const View rows = plain.make(range.count, qkv_proj_.in());
    const View qkv = plain.make(range.count, qkv_proj_.out());
    table->write(range, rows, plain);
    qkv_proj_(const_view(rows), qkv, plain);
    kept.values.resize(range.count * width);
    for (std::size_t i = 0; i < range.count; ++i) {
      std::copy_n(&qkv(i, 0), width, kept.values.data() + i * width);
    }
    kept.rows = length;
  }
  set(kept.values.data(), width, table->range(kept.rows));
  return distances;
}

FrozenProjection Attention::frozen_projection(Side side, std::size_t head) const {
  const bool query = side == Side::query, own = parts_.source == Source::own;
  const bool turned = own && side != Side::value;  // normed and rotated
  const Linear& linear = query || own ? qkv_proj_ : *kv_proj_;
  const std::size_t d_head = config_.d_head, width = linear.in();
  const std::size_t shared = query ? 1 : config_.n_heads / config_.n_kv_heads;
  const std::size_t keys = query || !own ? 0 : config_.d_heads();
  const std::size_t first =
      keys + (side == Side::value ? config_.d_kv_heads() : 0) + head / shared * d_head;
  FrozenProjection frozen = {.weights = std::vector<float>(d_head * width),
                             .bias = std::vector<float>(d_head),
                             .norm = turned ? (query ? q_norm_ : k_norm_).get() : nullptr,
                             .rotary = turned && rotary_ ? &*rotary_ : nullptr};
  for (std::size_t e = 0; e < d_head; ++e) {
    linear.copy_output(first + e, std::span(frozen.weights).subspan(e * width, width));
    if (!linear.bias().empty()) frozen.bias[e] = linear.bias()[first + e];
  }
  return frozen;
}

Attention::Distance Attention::distance(std::size_t head, std::size_t query, std::size_t key,
                                        std::size_t length, Session& session) const {
  Distance distance;
  if (parts_.relative) {
    const auto behind = static_cast<std::ptrdiff_t>(key) - static_cast<std::ptrdiff_t>(query);
    distance.bias = parts_.relative->of(head, length, session)[behind];
  }
  if (!parts_.distances) return distance;
  const HeadDistances rows = project_distances(length, Run(session));
  const std::size_t shared = config_.n_heads / config_.n_kv_heads, d_head = config_.d_head;
  const std::size_t row = rows.row(query, key) * rows.stride;
  if (rows.q) distance.query = {rows.q + row + head * d_head, d_head};
  if (rows.k) distance.key = {rows.k + row + head / shared * d_head, d_head};
  return distance;
}

std::uint64_t Attention::products(const RowSegment& segment) const {
  return std::uint64_t{2} * config_.d_heads() * segment.count * segment.keys.size();
}

HeadInput Attention::input_of(std::size_t head, const RowSegment& segment, const Projected& rows,
                              Session& session) const {
  const auto& [queries, keys, distances] = rows;
  const std::size_t shared = config_.n_heads / config_.n_kv_heads;  // query heads per key head
  const std::size_t key_head = segment.key_base * keys.stride + head / shared * config_.d_head;
  HeadDistances own = distances;
  if (own.table) {
    // Only the rows that this segment needs: they decide how integers are rounded.
    const RelativeEmbeddings::Range range =
        own.table->range(std::max<std::size_t>(segment.count, 1));
    const std::size_t skipped = (range.first - own.first) * own.stride;
    if (own.q) own.q += skipped + head * config_.d_head;
    if (own.k) own.k += skipped + head / shared * config_.d_head;
    own.first = range.first;
    own.count = range.count;
  }
  return {.q = queries.data + segment.first * queries.stride + head * config_.d_head,
          .q_stride = queries.stride,
          .queries = segment.count,
          .k = keys.k + key_head,
          .v = keys.v + key_head,
          .kv_stride = keys.stride,
          .d_head = config_.d_head,
          .divisor = parts_.divisor,
          .compute = parts_.scores,
          .keys = segment.keys,
          .bias = parts_.relative ? parts_.relative->of(head, segment.count, session) : nullptr,
          .distances = own,
          .cap = config_.score_cap.value_or(0.0f)};
}

void Attention::attend_segment(std::size_t index, const RowSegment& segment, const Projected& rows,
                               View context, const Run& run) const {
  const MapShape shape = {config_.n_heads, segment.count, segment.key_positions};
  const MapOutput scores =
      parts_.kind->has_scores() ? run.map(MapKind::scores, index, shape) : MapOutput();
  const MapOutput weights = run.map(MapKind::weights, index, shape);
  const auto attend = [&](std::size_t head, std::size_t thread) {
    const HeadInput in = input_of(head, segment, rows, run.session());
    const HeadOutput out = {.context = &context(segment.first, head * config_.d_head),
                            .stride = context.shape(1),
                            .weights = weights.head(head),
                            .scores = scores.head(head)};
    parts_.kind->attend(in, out, run.session().attention(thread));
  };
  run.session().pool.each(config_.n_heads, products(segment), attend);
  if (!run.tape() || segment.count == 0) return;
  const MapOutput of_scores =
      parts_.kind->has_scores() ? run.gradient_map(MapKind::scores, index, shape) : MapOutput();
  const MapOutput of_weights = run.gradient_map(MapKind::weights, index, shape);
  run.tape()->record([=, this, &session = run.session()](Tape& tape) {
    for (std::size_t head = 0; head < config_.n_heads; ++head) {
      const HeadInput in = input_of(head, segment, rows, session);
      const HeadGradients gradients = {
          .context = tape.gradient(&context(segment.first, head * config_.d_head)),
          .stride = context.shape(1),
          .q = tape.gradient(in.q),
          .k = tape.gradient(in.k),
          .v = tape.gradient(in.v),
          .relative = parts_.relative,
          .head = head,
          .distance_q = tape.gradient(in.distances.q),
          .distance_k = tape.gradient(in.distances.k),
          .weights = of_weights.head(head),
          .scores = of_scores.head(head)};
      attention_backward(*parts_.kind, in, gradients, session.attention(), tape);
    }
  });
}

}  // namespace glassformer
