#include "explain/readings/head_loadings.hpp"

#include "base/error.hpp"
#include "explain/readings/score_attribution.hpp"

namespace glassformer {
namespace {

std::vector<float> sums_of(const StreamParts& parts) {
  std::vector<float> sums(parts.columns.size());
  for (std::size_t i = 0; i < parts.written.size(); ++i) sums[i % sums.size()] += parts.written[i];
  return sums;
}

}  // namespace

void HeadLoadings::read(const StreamLedger::HeadGradients& gradients) {
  const bool cross = gradients.kind == LogitColumn::Kind::cross_head;
  const AttentionSite own = of_.name == "encoder" ? AttentionSite::encoder : AttentionSite::decoder;
  const AttentionSite site = cross ? AttentionSite::cross : own;
  const AttentionConfig& config = (cross ? of_.stack.block(gradients.layer).encoder_attn()
                                         : of_.stack.block(gradients.layer).self_attn())
                                      .config();
  const std::size_t d_head = config.d_head, width = config.d_heads();
  const std::size_t queries =
      find_traced(trace_, attention_name(site, gradients.layer) + ".q").shape[0];
  for (std::size_t head = 0; head < config.n_heads; ++head) {
    std::vector<float> of_context(queries * d_head);  // 0 for rows that the number does not read
    for (std::size_t r = 0; r < gradients.rows.size(); ++r) {
      std::ranges::copy(gradients.of_context.subspan(r * width + head * d_head, d_head),
                        of_context.data() + gradients.rows[r] * d_head);
    }
    // The keys' own stack is not read for a head that reads an encoder.
    const ScoreReading reading(
        {of_, of_}, {.attention = site, .layer = gradients.layer, .head = head}, trace_, session_);
    ScoreReading::Factors factors = reading.moved(of_context);
    const std::size_t keys = factors.size() / queries;
    for (std::size_t i = 0; i < queries; ++i) {
      double mean = 0;
      for (std::size_t k = 0; k < keys; ++k) {
        mean += static_cast<double>(reading.weight(i, k)) * factors[i * keys + k];
      }
      for (std::size_t k = 0; k < keys; ++k) {
        double& factor = factors[i * keys + k];
        factor = static_cast<double>(reading.weight(i, k)) * (factor - mean);
      }
    }
    using Side = ScoreReading::Side;
    Loading loading = {.asks = sums_of(reading.weighted(Side::query, factors))};
    if (!cross) {
      loading.answers = sums_of(reading.weighted(Side::key, factors));
      loading.content = sums_of(reading.content(of_context));
    }
    const LogitColumn column = {.kind = gradients.kind, .layer = gradients.layer, .head = head};
    by_head_.emplace(to_string(column), std::move(loading));
  }
}

void HeadLoadings::add_to(LogitAttribution& attribution) const {
  const std::size_t columns = attribution.columns.size();
  const auto append = [&](std::vector<float>& to, const std::vector<float>& row) {
    to.insert(to.end(), row.begin(), row.end());
    if (row.empty()) to.resize(to.size() + columns);
  };
  for (const LogitColumn& column : attribution.columns) {
    const auto found = by_head_.find(to_string(column));
    if (found == by_head_.end()) continue;
    const auto& [asks, answers, content] = found->second;
    attribution.heads.push_back(found->first);
    append(attribution.asks, asks);
    append(attribution.answers, answers);
    append(attribution.content, content);
  }
}

void add_loading_tensors(const ExplainedStack& of, Compute compute,
                         std::vector<std::string>& names) {
  if (compute != Compute::f32) {
    throw_error(ErrorCode::unsupported,
                {"loadings: expected compute f32, got {}", {to_string(compute)}});
  }
  const StackConfig& config = of.stack.config();
  for (std::size_t layer = 0; layer < config.layers.size(); ++layer) {
    const Block& block = of.stack.block(layer);
    const auto add = [&](const std::string& name) {
      names.push_back(layer_name(of.name, layer, name));
    };
    const auto add_attention = [&](const std::string& name, const Attention& attention) {
      if (!attention.has_scores()) {
        throw_error(ErrorCode::unsupported,
                    "loadings: expected softmax attention, got linear attention, which has no "
                    "scores");
      }
      for (const char* part : {".q", ".k", ".scores"}) add(name + part);
    };
    const bool pre = config.layers[layer].norm == NormPlacement::pre;
    if (!config.recurrent()) {
      add_attention("self_attn", block.self_attn());
      if (pre && block.self_attn_layer_norm()) add("self_attn_layer_norm");
    }
    if (!block.attends()) continue;
    add_attention("encoder_attn", block.encoder_attn());
    if (pre) add("self_attn.residual");
  }
}

}  // namespace glassformer
