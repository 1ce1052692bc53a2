#include "glassformer/mask_filler.hpp"

#include "tasks/fill/fill.hpp"
#include "tasks/load.hpp"
#include "tasks/steer.hpp"

namespace glassformer {

MaskFiller MaskFiller::load(const std::filesystem::path& folder, const LoadOptions& options) {
  return MaskFiller(load_pipeline<FillPipeline>(folder, options));
}

MaskFiller::MaskFiller(std::unique_ptr<FillPipeline> pipeline) : pipeline_(std::move(pipeline)) {}
MaskFiller::MaskFiller(MaskFiller&&) noexcept = default;
MaskFiller& MaskFiller::operator=(MaskFiller&&) noexcept = default;
MaskFiller::~MaskFiller() = default;

std::string_view MaskFiller::mask_token() const { return pipeline_->mask_token(); }
Compute MaskFiller::compute() const { return pipeline_->compute(); }

FilledText MaskFiller::fill(std::string_view text, const FillOptions& options) {
  return pipeline_->fill(text, options);
}

std::vector<std::variant<FilledText, Error>> MaskFiller::fill_batch(const Texts& texts,
                                                                    const FillOptions& options) {
  return pipeline_->fill_batch(texts.items(), options);
}

SteeringVector MaskFiller::steering_vector(const SteeringRequest& request, const Texts& toward,
                                           const Texts& away) {
  return glassformer::steering_vector(*pipeline_, request, toward.items(), away.items());
}

}  // namespace glassformer
