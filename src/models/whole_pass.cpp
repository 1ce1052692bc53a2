#include "models/whole_pass.hpp"

#include "base/error.hpp"

namespace glassformer {

WholePass::WholePass(Batch texts)
    : sources_(std::move(texts)), source_segments_(segments_of(sources_)) {}

WholePass::WholePass(Batch sources, Batch targets)
    : sources_(std::move(sources)),
      targets_(std::move(targets)),
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
  const auto read = [&run](const Batch& batch, std::span<const RowSegment> segments) {
    run.sequences = &batch;
    run.segments = segments;
    run.positions = batch.positions();
    run.session().attention.reserve(batch.longest());
  };
  const auto* encoder = std::get_if<std::unique_ptr<EncoderModel>>(&model);
  if (!links_decoders || encoder) {
    read(sources_, source_segments_);
    return (*encoder)->forward(sources_, run);
  }
  if (const auto* writer = std::get_if<std::unique_ptr<LanguageModel>>(&model)) {
    read(targets_, target_segments_);
    return (*writer)->forward(targets_, nullptr, run);
  }
  const Seq2Seq& translator = *std::get<std::unique_ptr<Seq2Seq>>(model);
  read(sources_, source_segments_);
  const ConstView states = const_view(translator.forward_sources(sources_, run));
  read(targets_, target_segments_);
  run.session().attention.reserve(sources_.longest());
  run.source_segments = cross_segments_;
  return translator.forward(targets_, &states, run);
}

}  // namespace glassformer
