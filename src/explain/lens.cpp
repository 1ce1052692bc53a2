#include "explain/lens.hpp"

#include "error.hpp"

namespace glassformer {
namespace {

// The logits of every `length` rows of the stream that are read as one text.
std::vector<float> read(EncoderModel& model, const Stream& stream, std::size_t length) {
  const std::size_t rows = (stream.layers + 1) * stream.tokens;
  Sequences texts;
  for (std::size_t i = 0; i < rows / length; ++i) texts.add(length);
  const Tensor<2> logits = model.resume(
      texts, stream.layers, const_view<2>(stream.states.data(), {rows, stream.d_model}));
  return {logits.data(), logits.data() + logits.size()};
}

}  // namespace

Lens lens(EncoderModel& model, const Stream& stream) {
  const HeadConfig& head = model.head_config();
  if (head.kind != HeadKind::sequence_classes) {
    throw_error(ErrorCode::unsupported, "lens: expected a model that classifies texts");
  }
  return {stream.layers, stream.tokens, head.outputs, read(model, stream, stream.tokens),
          read(model, stream, 1)};
}

}  // namespace glassformer
