#include "glassformer/glassformer.hpp"

#include "tasks/answer/answer.hpp"
#include "tasks/classify/classify.hpp"
#include "tasks/embed/embed.hpp"
#include "tasks/fill/fill.hpp"
#include "tasks/generate/generate.hpp"
#include "tasks/image/image.hpp"
#include "tasks/load.hpp"
#include "tasks/match/match.hpp"
#include "tasks/tag/token_classify.hpp"
#include "tasks/translate/translate.hpp"

namespace glassformer {
namespace {

template <class Public, class Typed>
AnyModel as(std::unique_ptr<Pipeline> pipeline) {
  return Public(std::unique_ptr<Typed>(static_cast<Typed*>(pipeline.release())));
}

}  // namespace

AnyModel load(const std::filesystem::path& folder, const LoadOptions& options) {
  std::unique_ptr<Pipeline> pipeline = load_pipeline(folder, {}, options);
  switch (pipeline->config().task) {
    case Task::text_classification:
      return as<Classifier, ClassifyPipeline>(std::move(pipeline));
    case Task::translation:
      return as<Translator, TranslatePipeline>(std::move(pipeline));
    case Task::token_classification:
      return as<TokenClassifier, TokenClassifyPipeline>(std::move(pipeline));
    case Task::question_answering:
      return as<QuestionAnswerer, AnswerPipeline>(std::move(pipeline));
    case Task::fill_mask:
      return as<MaskFiller, FillPipeline>(std::move(pipeline));
    case Task::feature_extraction:
      return as<Embedder, EmbedPipeline>(std::move(pipeline));
    case Task::text_generation:
    case Task::text2text_generation:
      return as<Generator, GeneratePipeline>(std::move(pipeline));
    case Task::image_classification:
      return as<ImageClassifier, ImagePipeline>(std::move(pipeline));
    case Task::zero_shot_image_classification:
      return as<ZeroShotImageClassifier, MatchPipeline>(std::move(pipeline));
  }
  throw_error(ErrorCode::internal, "a task without a public class");
}

}  // namespace glassformer
