#pragma once

#include <filesystem>
#include <variant>

#include "glassformer/attention.hpp"
#include "glassformer/chat.hpp"
#include "glassformer/classifier.hpp"
#include "glassformer/compute.hpp"
#include "glassformer/embedder.hpp"
#include "glassformer/error.hpp"
#include "glassformer/explainer.hpp"
#include "glassformer/generator.hpp"
#include "glassformer/image_classifier.hpp"
#include "glassformer/mask_filler.hpp"
#include "glassformer/output.hpp"
#include "glassformer/question_answerer.hpp"
#include "glassformer/summarizer.hpp"
#include "glassformer/text_input.hpp"
#include "glassformer/text_tokenizer.hpp"
#include "glassformer/token_classifier.hpp"
#include "glassformer/tokens.hpp"
#include "glassformer/translator.hpp"
#include "glassformer/zero_shot_image_classifier.hpp"

namespace glassformer {

/// A model of any task.
using AnyModel = std::variant<Classifier, TokenClassifier, QuestionAnswerer, MaskFiller, Embedder,
                              Translator, Generator, ImageClassifier, ZeroShotImageClassifier>;

/// Opens a model folder of any task and family. Throws the same errors as Classifier::load, except
/// `wrong_task`.
AnyModel load(const std::filesystem::path& folder, const LoadOptions& options = {});

}  // namespace glassformer
