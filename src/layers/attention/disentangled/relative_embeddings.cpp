#include "layers/attention/disentangled/relative_embeddings.hpp"

#include <cmath>
#include <numeric>
#include <span>

#include "base/powers.hpp"

namespace glassformer {

RelativeEmbeddings::RelativeEmbeddings(const DisentangledConfig& config, std::size_t d_model,
                                       std::size_t longest, const NormConfig& norm)
    : config_(config), table_(2 * config.span, d_model, 1.0f), rows_(2 * config.span) {
  if (config.norm) layer_norm_ = make_norm(norm, d_model);
  std::iota(rows_.begin(), rows_.end(), 0);
  buckets_.assign(longest, static_cast<std::uint32_t>(config.span));
  for (std::size_t i = 0; i < longest; ++i) {
    buckets_[i] = static_cast<std::uint32_t>(bucket(config, i));
    if (buckets_[i] == config.span) break;  // as are all farther ones
  }
}

void RelativeEmbeddings::declare(const ParameterScope& scope) {
  table_.declare(scope);
  if (layer_norm_) layer_norm_->declare(scope.scope("layer_norm"));
}

// Computed in floats, as in the original: at the edge of two buckets, the rounding decides.
std::size_t RelativeEmbeddings::bucket(const DisentangledConfig& config, std::size_t distance) {
  const std::size_t exact = config.span / 2;
  if (config.distance == 0 || distance <= exact) return std::min(distance, config.span);
  const auto log_of = [&](std::size_t number) {
    const float ratio = static_cast<float>(number) / static_cast<float>(exact);
    return static_cast<float>(logarithm(static_cast<double>(ratio)));
  };
  const float steps =
      log_of(distance) / log_of(config.distance - 1) * static_cast<float>(exact - 1);
  return std::min(static_cast<std::size_t>(std::ceil(steps)) + exact, config.span);
}

RelativeEmbeddings::Range RelativeEmbeddings::range(std::size_t length) const {
  const auto farthest = static_cast<std::ptrdiff_t>(length) - 1;
  const std::size_t first = row(-farthest);
  return {first, row(farthest) + 1 - first};
}

void RelativeEmbeddings::write(const Range& range, View x, const Run& run) const {
  table_(std::span(rows_).subspan(range.first, range.count), x, run);
  if (layer_norm_) (*layer_norm_)(const_view(x), x, run);
}

void RelativeEmbeddings::begin(std::size_t rows, Run& run) const {
  constexpr const char* name = "relative_embeddings";
  const bool named = run.traces(name);
  const bool learns = run.tape() && run.tape()->learns();
  if (!named && !learns) return;
  const Range range = named ? Range{0, rows_.size()} : this->range(run.sequences->longest());
  const bool listed = rows == 0;  // only names are asked for
  const View x = run.make(listed ? 0 : range.count, table_.d_model());
  if (!listed) write(range, x, run);
  run.done(name, {.data = x.data(),
                  .first = 0,
                  .count = range.count,
                  .columns = table_.d_model(),
                  .stride = table_.d_model(),
                  .of = RowsOf::table});
  if (listed) return;
  run.drop(x);
  run.distances = x;
  run.first_distance = range.first;
}

}  // namespace glassformer
