#include "models/stack/block.hpp"

namespace glassformer {

void Block::declare(const ParameterScope& scope) {
  self_attn_.layer->declare(scope.scope("self_attn"));
  self_attn_.residual.declare(scope);
  if (encoder_attn_) {
    encoder_attn_->layer->declare(scope.scope("encoder_attn"));
    encoder_attn_->residual.declare(scope);
  }
  feed_forward_.layer->declare(scope);
  feed_forward_.residual.declare(scope);
}

void Block::operator()(View x, const Run& run) const {
  run.rename("input", x);
  const Arena::Scope memory(run.arena());
  std::optional<ConstView> both;  // the input of the feed-forward block, before attention changes x
  if (order_ == Order::parallel) both = feed_forward_.residual.begin(x, run);
  // Between parallel sublayers there is no stream.
  const char* const residual = both ? nullptr : "self_attn.residual";
  self_attn_.residual(x, run, residual, [&](View sum, const ConstView& input) {
    const Run::Scope scope = run.scope("self_attn");
    self_attn_.layer->add_to(sum, input, run);
  });
  if (encoder_attn_) {
    const auto attend = [&](View sum, const ConstView& input) {
      const Run::Scope scope = run.scope("encoder_attn");
      encoder_attn_->layer->add_to(sum, input, run);
    };
    encoder_attn_->residual(x, run, "encoder_attn.residual", attend);
  }
  const auto feed_forward = [&](View sum, const ConstView& input) {
    feed_forward_.layer->add_to(sum, input, run);
  };
  if (both) {
    feed_forward_.residual.end(x, *both, run, nullptr, feed_forward);
  } else {
    feed_forward_.residual(x, run, nullptr, feed_forward);
  }
  if (feed_forward_.residual.placement() == NormPlacement::post) {
    run.rename("output", x);  // the final norm's result
  } else {
    run.done("output", x);
  }
}

}  // namespace glassformer
