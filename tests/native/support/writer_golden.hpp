#pragma once

#include <catch2/generators/catch_generators.hpp>
#include <memory>
#include <string>
#include <vector>

#include "explain/contrast.hpp"
#include "explain/next_token.hpp"
#include "support/any_file.hpp"
#include "support/checkpoint_golden.hpp"
#include "tasks/generate/generate.hpp"
#include "tasks/load.hpp"
#include "tasks/translate/translate.hpp"

namespace glassformer::test {

/// A checkpoint of a model that writes, and what PyTorch found of texts that it reads: an entry of
/// circuits.json or graphs.json in tests/fixtures/checkpoints.
class WriterGolden {
 public:
  WriterGolden(const std::string& file, const std::string& name)
      : golden(nlohmann::json::parse(read_file(checkpoints / file, any_file)).at(name)) {
    if (golden.at("target_ids").is_null()) {
      pipeline_ = load_pipeline<GeneratePipeline>(checkpoints / name);
    } else {
      pipeline_ = load_pipeline<TranslatePipeline>(checkpoints / name);
      golden.at("target_ids").get_to(target_);
    }
    contrast = contrast_between(golden.at("token").get<std::size_t>(),
                                golden.at("against").get<std::size_t>(), runner()->vocab_size());
  }

  WriterRunner runner() {
    if (target_.empty()) return static_cast<GeneratePipeline&>(*pipeline_).runner();
    return static_cast<TranslatePipeline&>(*pipeline_).runner();
  }

  /// Returns the text with the ids in this field.
  DecodedText text(const std::string& field) {
    auto ids = std::make_unique<std::vector<std::int32_t>>(golden.at(field));
    if (target_.empty()) {
      ids_.push_back(std::move(ids));
      return {*ids_.back()};
    }
    Batch source;
    source.add(*ids);
    const WriterRunner model = runner();
    encoded_.push_back(std::make_unique<Seq2Seq::Encoded>(
        static_cast<const Seq2Seq&>(model.model).encode(source, {}, model.session)));
    return {target_, encoded_.back().get()};
  }

  nlohmann::json golden;
  Contrast contrast;

 private:
  std::vector<std::int32_t> target_;
  std::vector<std::unique_ptr<std::vector<std::int32_t>>> ids_;
  std::unique_ptr<Pipeline> pipeline_;
  std::vector<std::unique_ptr<Seq2Seq::Encoded>> encoded_;
};

/// Each of the checkpoints in those files, one after the other.
inline std::string any_writer() {
  return GENERATE(as<std::string>{}, "gpt2_generate", "llama", "qwen3", "gpt_neox", "m2m_100");
}

}  // namespace glassformer::test
