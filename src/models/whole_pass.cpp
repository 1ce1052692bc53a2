#include "models/whole_pass.hpp"

#include <type_traits>
#include <variant>

namespace glassformer {

WholePass::WholePass(Batch texts, std::vector<std::size_t> rows)
    : sources_(std::move(texts)), rows_(std::move(rows)), source_segments_(segments_of(sources_)) {}

WholePass::WholePass(Pictures pictures)
    : pictures_(std::make_unique<Pictures>(std::move(pictures))),
      source_segments_(segments_of(*pictures_)) {}

WholePass::WholePass(Batch sources, Batch targets, std::vector<std::size_t> rows)
    : sources_(std::move(sources)),
      targets_(std::move(targets)),
      rows_(std::move(rows)),
      source_segments_(segments_of(sources_)),
      target_segments_(segments_of(targets_)) {
  for (std::size_t i = 0; i < targets_.size() && i < sources_.size(); ++i) {
    cross_segments_.push_back({.first = targets_.start(i),
                               .count = targets_.length(i),
                               .key_base = sources_.start(i),
                               .keys = sources_.visible(i),
                               .key_positions = sources_.length(i)});
  }
}

View WholePass::operator()(const Model& model, Run& run) const {
  return std::visit(
      [&](const auto& of_kind) -> View {
        if constexpr (std::is_same_v<decltype(*of_kind), DualEncoder&>) {
          throw_error(ErrorCode::unsupported, "expected a model that learns, got a dual encoder");
        } else {
          return (*this)(*of_kind, run);
        }
      },
      model);
}

void WholePass::read(const Sequences& batch, std::span<const RowSegment> segments, Run& run) {
  run.sequences = &batch;
  run.segments = segments;
  run.positions = batch.positions();
  run.session().reserve_attention(batch.longest());
}

View WholePass::operator()(const EncoderModel& model, Run& run) const {
  read(encoded(), source_segments_, run);
  if (pictures_) return model.forward(*pictures_, run);
  return model.forward(sources_, rows_, run);
}

View WholePass::operator()(const LanguageModel& model, Run& run) const {
  read(targets_, target_segments_, run);
  return model.forward({targets_, rows_}, nullptr, run);
}

View WholePass::operator()(const Seq2Seq& model, Run& run) const {
  read(sources_, source_segments_, run);
  const ConstView states = const_view(model.forward_sources(sources_, run));
  read_targets(run);
  return model.forward({targets_, rows_}, &states, run);
}

void WholePass::read_targets(Run& run) const {
  read(targets_, target_segments_, run);
  if (cross_segments_.empty()) return;
  run.session().reserve_attention(sources_.longest());
  run.source_segments = cross_segments_;
}

void WholePass::decoder_block(const LanguageModel& model, std::size_t layer,
                              const ConstView* states, View x, Run& run) const {
  read_targets(run);
  model.decoder().block(layer, states, x, run);
}

void WholePass::encoder_block(const Seq2Seq& model, std::size_t layer, View x, Run& run) const {
  read(sources_, source_segments_, run);
  model.encoder().block(layer, x, run);
}

}  // namespace glassformer
