#include "models/classifier.hpp"

#include "kernels/kernels.hpp"
#include "models/parts.hpp"
#include "tensor/sizes.hpp"

namespace glassformer {
namespace {

std::unique_ptr<SequencePooling> make_pooling(const ModelConfig& config) {
  switch (config.pooling) {
    case Pooling::mean:
      return std::make_unique<MeanPooling>();
    case Pooling::first:
      return std::make_unique<FirstTokenPooling>();
  }
  return nullptr;
}

}  // namespace

EncoderClassifier::EncoderClassifier(const ModelConfig& config, Compute compute)
    : compute_(compute),
      encoder_(config, compute, make_embedding(config, config.vocab_size, compute)),
      pooling_(make_pooling(config)),
      classifier_(config.d_model, config.labels.size(), Compute::f32),
      workspace_(config.d_model, config.d_ff) {}

std::vector<Parameter> EncoderClassifier::parameters() {
  std::vector<Parameter> parameters;
  const ParameterScope root(parameters);
  encoder_.declare(root.scope("encoder"));
  classifier_.declare(root.scope("classifier"), Bias::present);
  return parameters;
}

EncoderClassifier::Output EncoderClassifier::operator()(const Batch& batch,
                                                        const InspectionRequest& request) {
  const std::size_t classes = classifier_.out();
  Output output;
  const View<2> x = encoder_(batch, request, output.attention, workspace_);  // [N, D]

  auto pooled = Tensor<2>::from_shape({batch.size(), classifier_.in()});
  (*pooling_)(const_view(x), batch, rows(pooled, 0, batch.size()));
  output.logits.resize({batch.size(), classes});
  classifier_(const_view(pooled), rows(output.logits, 0, batch.size()), workspace_);

  if (request.contributions) {
    checked_product("contributions", {batch.tokens(), classes});
    output.contributions.resize({batch.tokens(), classes});
    classifier_.multiply(const_view(x), rows(output.contributions, 0, batch.tokens()), workspace_);
    std::vector<float> weights(batch.longest());
    for (std::size_t s = 0; s < batch.size(); ++s) {
      pooling_->weigh(batch, s, std::span(weights).first(batch.length(s)));
      for (std::size_t i = 0; i < batch.length(s); ++i) {
        float* row = &output.contributions(batch.start(s) + i, 0);
        kernels().scale(row, row, classes, weights[i]);
      }
    }
  }
  return output;
}

}  // namespace glassformer
