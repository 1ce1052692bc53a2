#include "explain/readings/lens.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "explain/contrast.hpp"
#include "kernels/kernels.hpp"

namespace glassformer {
namespace {

// Returns the logits of the stream, in which every `length` rows are read as one text.
std::vector<float> read(const EncoderRunner& model, const Stream& stream, std::size_t length) {
  const std::size_t rows = (stream.layers + 1) * stream.tokens;
  Sequences texts;
  for (std::size_t i = 0; i < rows / length; ++i) texts.add(length);
  const Tensor logits =
      model.resume(texts, stream.layers, const_view(stream.states.data(), {rows, stream.d_model}));
  return {logits.data(), logits.data() + logits.size()};
}

// Returns the most probable tokens of a row of logits, best first.
std::vector<Guess> best_guesses(std::span<const float> logits, const GuessLimits& most) {
  expect_finite(logits);
  const float sum = writing_kernels().log_sum_exp(logits.data(), logits.size());
  std::vector<Guess> best;
  for (std::size_t id = 0; id < std::min(logits.size(), most.vocabulary); ++id) {
    const float logprob = logits[id] - sum;
    if (best.size() == most.count && logprob <= best.back().logprob) continue;
    const auto place =
        std::ranges::find_if(best, [&](const Guess& one) { return one.logprob < logprob; });
    best.insert(place, {static_cast<std::int32_t>(id), logprob});
    if (best.size() > most.count) best.pop_back();
  }
  return best;
}

}  // namespace

Lens lens(const EncoderRunner& model, const Stream& stream) {
  const HeadConfig& head = model->head_config();
  if (head.kind != HeadKind::sequence_classes) {
    throw_error(ErrorCode::unsupported, "lens: expected a model that classifies texts");
  }
  return {stream.layers, stream.tokens, head.outputs, read(model, stream, stream.tokens),
          read(model, stream, 1)};
}

std::vector<std::vector<Guess>> lens(const WriterRunner& model, View stream,
                                     const GuessLimits& most) {
  constexpr std::size_t most_rows = 64;  // rows whose logits are in memory at once
  std::vector<std::vector<Guess>> guesses;
  for (std::size_t first = 0; first < stream.shape(0); first += most_rows) {
    const std::size_t some = std::min(most_rows, stream.shape(0) - first);
    const View logits = model->project_stream(rows(stream, first, some), model.session);
    for (std::size_t row = 0; row < some; ++row) {
      guesses.push_back(best_guesses({&logits(row, 0), logits.shape(1)}, most));
    }
  }
  return guesses;
}

}  // namespace glassformer
