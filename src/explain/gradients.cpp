#include "explain/gradients.hpp"

#include "base/error.hpp"
#include "explain/traced.hpp"
#include "run/trace/gradient_tracer.hpp"

namespace glassformer {

AnswerTerms terms_of(const Contrast& contrast, std::size_t row) {
  AnswerTerms terms;
  for (std::size_t c = 0; c < contrast.weights.size(); ++c) {
    if (contrast.weights[c] != 0) terms.push_back({row, c, contrast.weights[c]});
  }
  return terms;
}

void append_row_products(const TracedTensor& a, const TracedTensor& b, std::vector<float>& to) {
  const std::size_t width = a.shape[1];
  for (std::size_t row = 0; row < a.shape[0]; ++row) {
    const std::size_t at = row * width;
    to.push_back(static_cast<float>(dot(&a.data[at], &b.data[at], width)));
  }
}

void expect_gradients(Compute compute) {
  expect_linked_gradients();
  if (compute != Compute::f32) {
    throw_error(ErrorCode::unsupported,
                {"gradients: expected compute f32, got {}", {to_string(compute)}});
  }
}

void expect_rules(const StackConfig& config, BackwardRules rules) {
  if (rules == BackwardRules::gradients) return;
  for (const LayerConfig& layer : config.layers) {
    if (layer.mixer == Mixer::linear) {
      throw_error(ErrorCode::unsupported,
                  {"{}: expected attention with a softmax, got linear attention",
                   {rules == BackwardRules::attn_lrp ? "attn_lrp" : "cp_lrp"}});
    }
  }
}

Gradients gradients_of(const std::function<View(Run&)>& forward,
                       const std::function<AnswerTerms(const ConstView& logits)>& answer,
                       std::span<const std::string> names, Session& session, Tracer* inner,
                       std::span<const Patch> patches, BackwardRules rules) {
  expect_linked_gradients();
  for (const Patch& patch : patches) {
    if (patch.name.ends_with(".scores") || patch.name.ends_with(".weights")) {
      throw_error(
          ErrorCode::unsupported,
          {"gradients: expected no patch of scores or weights, got one of {}", {patch.name}});
    }
  }
  const std::unique_ptr<Tape> made = make_linked_tape(session.arena);
  Tape& tape = *made;
  tape.start(nullptr);
  tape.rules = rules;
  GradientTracer tracer(names, tape, inner, patches);
  Run run(session, &tracer);
  run.record(tape);
  const View logits = forward(run);
  tape.turn();
  Gradients gradients;
  for (const AnswerTerm& term : answer(const_view(logits))) {
    float* const logit = &logits(term.row, term.column);
    gradients.answer += double{term.weight} * double{*logit};
    *tape.gradient(logit) += term.weight;
  }
  tape.rewind();
  gradients.tensors = tracer.take();
  for (const TracedTensor& tensor : gradients.tensors) expect_finite(tensor.data);
  return gradients;
}

}  // namespace glassformer
