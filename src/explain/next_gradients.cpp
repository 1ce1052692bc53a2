#include "explain/next_gradients.hpp"

#include <algorithm>
#include <utility>

#include "explain/readings/relevance.hpp"
#include "explain/readings/rollout.hpp"
#include "explain/traced.hpp"
#include "models/whole_pass.hpp"
#include "run/trace/apply_patch.hpp"
#include "run/trace/named_tracer.hpp"
#include "run/trace/trace.hpp"

namespace glassformer {
namespace {

constexpr const char* target_embeddings = "decoder.embed_tokens";
constexpr const char* source_embeddings = "encoder.embed_tokens";

// Applies patches to a pass over one text, or over one source and one target.
class Patcher final : public NamedTracer {
 public:
  explicit Patcher(std::span<const Patch> patches) : patches_(patches) {}

  bool wants(std::string_view name) const override {
    return std::ranges::find(patches_, full_name(name), &Patch::name) != patches_.end();
  }
  void done(std::string_view name, const CompleteRows& rows) override {
    const std::string full = full_name(name);
    for (const Patch& patch : patches_) {
      if (patch.name != full) continue;
      for (std::size_t i = 0; i < rows.count; ++i) {
        apply_to_row(patch, rows, i, rows.of == RowsOf::sequences ? 0 : rows.first + i);
      }
    }
  }

 private:
  std::span<const Patch> patches_;
};

// Traces tensors of the decoder and, if there is one, of the encoder.
std::vector<TracedTensor> trace_of_both(const WriterRunner& model, const DecodedText& text,
                                        const std::string& in_decoder,
                                        const std::string& in_encoder) {
  std::vector<TracedTensor> traced = run_to_next_token(model, text, {.names = {in_decoder}}).trace;
  if (!text.source) return traced;
  Seq2Seq::Encoded encoded =
      model.translator().encode(text.source->sources, {.names = {in_encoder}}, model.session);
  std::ranges::move(encoded.traces[0], std::back_inserter(traced));
  return traced;
}

// The attention maps of a run, or the gradients of their weights. Of a model without an encoder,
// only the decoder's.
struct NextMaps {
  AttentionMap encoder = {}, decoder = {}, cross = {};
};

NextMaps maps_of(const WriterRunner& model, const DecodedText& text,
                 std::span<const TracedTensor> tensors) {
  const std::string own = "self_attn.weights";
  const ExplainedStack decoder = explained_stack(model->decoder(), "decoder");
  if (!text.source) return {.decoder = map_of_layers(tensors, decoder, own)};
  return {.encoder =
              map_of_layers(tensors, explained_stack(model.translator().encoder(), "encoder"), own),
          .decoder = map_of_layers(tensors, decoder, own),
          .cross = map_of_layers(tensors, decoder, "encoder_attn.weights")};
}

NextMaps weights_of(const WriterRunner& model, const DecodedText& text) {
  return maps_of(model, text,
                 trace_of_both(model, text, "decoder.layers.*.*.weights",
                               "encoder.layers.*.self_attn.weights"));
}

std::vector<float> last_row(const std::vector<float>& matrix, std::size_t rows) {
  return {matrix.end() - static_cast<std::ptrdiff_t>(matrix.size() / rows), matrix.end()};
}

const StackConfig& encoder_config(const WriterRunner& model) {
  return model.translator().encoder().stack().config();
}

bool asks_for_logits(const std::vector<std::string>& names) {
  return std::ranges::any_of(names, [](const auto& name) { return matches(name, "logits"); });
}

}  // namespace

Gradients next_token_gradients(const WriterRunner& model, const DecodedText& text,
                               const Contrast& contrast, const std::vector<std::string>& names,
                               std::span<const Patch> patches, BackwardRules rules) {
  expect_gradients(model->compute());
  Batch targets;
  targets.add(text.ids);
  // Computes the logits of the last token only, unless the others' gradients are requested, too.
  std::size_t row = text.ids.size() - 1;
  std::vector<std::size_t> rows;
  if (!asks_for_logits(names)) rows.push_back(std::exchange(row, 0));
  const WholePass pass(text.source ? text.source->sources : Batch(), std::move(targets),
                       std::move(rows));
  const auto forward = [&](Run& run) { return run_pass(model, text, pass, run); };
  Patcher patcher(patches);
  return gradients_of(
      forward, [&](const ConstView&) { return terms_of(contrast, row); }, names, model.session,
      patches.empty() ? nullptr : &patcher, patches, rules);
}

std::vector<TracedTensor> next_token_embeddings(const WriterRunner& model,
                                                const DecodedText& text) {
  return trace_of_both(model, text, target_embeddings, source_embeddings);
}

PropagatedRelevance next_gradient_times_input(const WriterRunner& model, const DecodedText& text,
                                              const Contrast& contrast, BackwardRules rules) {
  expect_rules(model->decoder().stack().config(), rules);
  if (text.source) {
    expect_rules(encoder_config(model), rules);
  }
  const std::vector<TracedTensor> embeddings = next_token_embeddings(model, text);
  std::vector<std::string> names = {target_embeddings};
  if (text.source) names.emplace_back(source_embeddings);
  const Gradients gradients = next_token_gradients(model, text, contrast, names, {}, rules);
  PropagatedRelevance result = {.scores = {}, .value = static_cast<float>(gradients.answer)};
  for (const std::string& name : names) {
    append_row_products(find_traced(embeddings, name), find_traced(gradients.tensors, name),
                        result.scores);
  }
  return result;
}

std::vector<float> next_rollout(const WriterRunner& model, const DecodedText& text) {
  const StackConfig& config = model->decoder().stack().config();
  expect_residuals(config, "rollout");
  if (text.source) expect_residuals(encoder_config(model), "rollout");
  if (config.recurrent()) {
    throw_error(ErrorCode::unsupported,
                "rollout: expected self-attention in the decoder, got a recurrent unit");
  }
  const NextMaps maps = weights_of(model, text);
  return last_row(
      text.source ? rollout({maps.encoder, maps.decoder, maps.cross}) : rollout(maps.decoder),
      text.ids.size());
}

Relevance next_relevance(const WriterRunner& model, const DecodedText& text,
                         const Contrast& contrast) {
  expect_relevance(model->decoder().stack().config());
  std::vector<std::string> names = {"decoder.layers.*.*.weights"};
  if (text.source) {
    expect_relevance(encoder_config(model));
    names.emplace_back("encoder.layers.*.self_attn.weights");
  }
  // A decoder with recurrent units has none.
  const Gradients gradients = next_token_gradients(model, text, contrast, names);
  const NextMaps a = weights_of(model, text), g = maps_of(model, text, gradients.tensors);
  Relevance result;
  result.matrix = text.source
                      ? relevance({a.encoder, a.decoder, a.cross}, {g.encoder, g.decoder, g.cross})
                      : relevance(a.decoder, g.decoder);
  result.scores = last_row(result.matrix, text.ids.size());
  return result;
}

}  // namespace glassformer
