#include "tasks/explain/feature_explanation.hpp"

#include <utility>

namespace glassformer {
namespace {

class FeatureSteps {
 public:
  FeatureSteps(std::unique_ptr<TracedSubject> subject, const DictionarySet& dictionaries)
      : subject_(std::move(subject)), dictionaries_(dictionaries) {}

  bool step() {
    StackTensors names;
    for (std::size_t i = 0; i < dictionaries_.size(); ++i) {
      const DictionaryConfig& config = dictionaries_[i].config();
      for (const std::string& name : {config.reads, config.writes}) {
        (config.in_decoder() ? names.decoder : names.encoder).push_back(name);
      }
    }
    const std::vector<TracedTensor> trace = subject_->trace(names);
    for (std::size_t i = 0; i < dictionaries_.size(); ++i) {
      TextFeatures& of = result_.dictionaries.emplace_back(
          text_features(dictionaries_[i], trace, subject_->session()));
      of.tokens = subject_->names(!dictionaries_[i].config().in_decoder());
    }
    subject_->describe(result_);
    return false;
  }
  FeatureExplanation take() { return std::move(result_); }

 private:
  std::unique_ptr<TracedSubject> subject_;
  const DictionarySet& dictionaries_;
  FeatureExplanation result_;
};

class FeatureJob final : public SubjectJob<FeatureExplanation, FeatureSteps> {
 public:
  FeatureJob(Pipeline& pipeline, const TaskInputs& inputs, const ExplainRequest& request)
      : SubjectJob(pipeline, inputs, request, {.whole = true}),
        dictionaries_(pipeline.dictionaries()) {}

 private:
  std::unique_ptr<FeatureSteps> begin(std::unique_ptr<TracedSubject> subject) const override {
    return std::make_unique<FeatureSteps>(std::move(subject), dictionaries_);
  }

  void write_fields(ResultWriter& visit, FeatureExplanation& result) override {
    write_facts(visit, result);
    fields(visit, result);
  }

  const DictionarySet& dictionaries_;
};

}  // namespace

std::unique_ptr<TypedJob<FeatureExplanation>> begin_feature_explanation(
    Pipeline& pipeline, const TaskInputs& inputs, const ExplainRequest& request) {
  return std::make_unique<FeatureJob>(pipeline, inputs, request);
}

}  // namespace glassformer
