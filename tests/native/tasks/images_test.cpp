// Classifiers of pictures, compared with the library transformers; see tests/fixtures/pictures.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "families/published_pictures.hpp"
#include "glassformer/image_classifier.hpp"
#include "image/decode/decode.hpp"
#include "support/checkpoint_golden.hpp"
#include "support/picture_files.hpp"
#include "tasks/description.hpp"
#include "tasks/explain/explain.hpp"
#include "tasks/image/image.hpp"
#include "tasks/load.hpp"

namespace glassformer::test {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr double images_tolerance = 1e-4;  // float32 is within 2e-5 of float64 in the library

const std::vector<std::string> picture_models = {
    "vit", "vit_wide", "vit_gray", "vit_defaults", "deit", "deit_teacher", "clip_classes"};

// A checkpoint and the library's answers.
struct PictureGolden {
  explicit PictureGolden(const std::string& name)
      : folder(pictures_folder / (name.starts_with("clip") ? "clip" : "checkpoints") / name),
        json(read_json(folder / "expected.json")),
        tensors(read_tensors(folder / "expected.safetensors")),
        pipeline(load_pipeline<ImagePipeline>(folder)) {}

  static Picture picture(const nlohmann::json& entry) {
    const std::string name = entry.at("file");
    return decode_picture(picture_file(name));
  }
  static ImageOptions options(const nlohmann::json& entry) {
    ImageOptions options;
    if (!entry.contains("size")) return options;
    options.size = {entry.at("size")[0], entry.at("size")[1]};
    options.interpolate = true;
    return options;
  }

  std::filesystem::path folder;
  nlohmann::json json;
  std::map<std::string, std::vector<float>> tensors;
  std::unique_ptr<ImagePipeline> pipeline;
};

}  // namespace

TEST_CASE("classifiers of pictures give the library's answers", "[image]") {
  const std::string name = GENERATE(from_range(picture_models));
  INFO(name);
  PictureGolden golden(name);
  CHECK(golden.pipeline->config().labels ==
        golden.json.at("labels").get<std::vector<std::string>>());
  std::size_t traced = 0;
  for (std::size_t i = 0; i < golden.json.at("pictures").size(); ++i) {
    const nlohmann::json& entry = golden.json.at("pictures")[i];
    INFO(entry.dump());
    const std::string index = std::to_string(i);
    const Picture picture = golden.picture(entry);
    ImageOptions options = golden.options(entry);
    const auto check = [&](const std::string& tensor, std::span<const float> got) {
      const auto known = golden.tensors.find(tensor + "." + index);
      if (known != golden.tensors.end()) CHECK(distance(got, known->second) < images_tolerance);
    };
    const ReadPicture read = golden.pipeline->read(picture, options);
    CHECK(read.input.pixels.height == entry.at("pixels")[0]);
    CHECK(read.input.pixels.width == entry.at("pixels")[1]);
    if (const auto known = golden.tensors.find("pixels." + index); known != golden.tensors.end()) {
      const bool equal = read.input.pixels.values == known->second;  // to the bit
      CHECK(equal);
    }
    options.encoder.attention = true;
    options.encoder.trace = all_names;
    const ImageClassification result = golden.pipeline->classify(picture, options);
    CHECK(result.label == entry.at("label").get<std::string>());
    CHECK(distance(result.scores, entry.at("scores").get<std::vector<float>>()) < images_tolerance);
    CHECK(result.grid.tokens() == result.attention->queries);
    check("logits", result.logits);
    check("attention", result.attention->data);
    const std::string prefix = index + "/";
    for (const auto& [tensor, values] : golden.tensors) {
      if (!tensor.starts_with(prefix)) continue;
      INFO(tensor);
      const auto shown =
          std::ranges::find(result.trace, tensor.substr(prefix.size()), &TracedTensor::name);
      REQUIRE(shown != result.trace.end());
      CHECK(distance(shown->data, values) < images_tolerance);
      ++traced;
    }
    if (traced > 0) CHECK(result.trace.size() == traced);
    traced = 0;
  }
}

TEST_CASE("gradients of pictures are the library's", "[image]") {
  const std::string name = GENERATE(from_range(std::vector<std::string>{"vit", "deit_teacher"}));
  INFO(name);
  PictureGolden golden(name);
  constexpr std::string_view start = "gradient.";
  std::size_t compared = 0;
  for (const auto& [tensor, values] : golden.tensors) {
    if (!tensor.starts_with(start)) continue;
    const std::size_t index = std::stoul(tensor.substr(start.size()));
    const std::string wanted = tensor.substr(tensor.find('/') + 1);
    INFO(wanted);
    const Picture picture = golden.picture(golden.json.at("pictures")[index]);
    const ImageClassification result =
        golden.pipeline->classify(picture, {.encoder = {.gradients = {wanted}}});
    REQUIRE(result.gradients.size() == 1);
    CHECK(distance(result.gradients[0].data, values) < images_tolerance);
    ++compared;
  }
  CHECK(compared == 3);
}

TEST_CASE("one batch gives the answers of single pictures, and an error stays alone", "[image]") {
  PictureGolden golden("vit");
  std::vector<Picture> pictures;
  for (const nlohmann::json& entry : golden.json.at("pictures")) {
    pictures.push_back(golden.picture(entry));
  }
  pictures.insert(pictures.begin() + 1, Picture{2, 2, 5, {}});
  const auto results = golden.pipeline->classify_batch(pictures);
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    if (i == 1) {
      CHECK(std::get<Error>(results[i]).code() == ErrorCode::invalid_option);
      continue;
    }
    const auto& result = std::get<ImageClassification>(results[i]);
    CHECK(result.logits == golden.pipeline->classify(pictures[i]).logits);
  }
}

TEST_CASE("a picture's grid and region tell where its rows are", "[image]") {
  PictureGolden wide("vit_wide");
  // The shorter side of 61 x 47 becomes 14: 18 x 14, of which 20 x 12 are cut out.
  const Picture picture = decode_picture(picture_file("jpeg_large.jpg"));
  const ImageClassification result = wide.pipeline->classify(picture);
  CHECK(result.grid.rows == 3);
  CHECK(result.grid.columns == 4);
  CHECK(result.grid.special == std::vector<std::string>{"[CLS]"});
  CHECK(std::abs(result.region.left + 61.0f / 18) < 1e-4f);
  CHECK(std::abs(result.region.width - 61.0f / 18 * 20) < 1e-4f);
  CHECK(std::abs(result.region.top - 47.0f / 14) < 1e-4f);
  CHECK(std::abs(result.region.height - 47.0f / 14 * 12) < 1e-4f);

  PictureGolden deit("deit");
  CHECK(deit.pipeline->classify(picture).grid.special ==
        std::vector<std::string>{"[CLS]", "[DIST]"});

  // Whole patches cover 16 x 16 of 17 x 19 pixels.
  PictureGolden square("vit");
  const ImageClassification other =
      square.pipeline->classify(picture, {.interpolate = true, .size = {{17, 19}}});
  CHECK(other.grid.rows == 4);
  CHECK(other.grid.columns == 4);
  CHECK(std::abs(other.region.width - 61.0f * 16 / 19) < 1e-4f);
  CHECK(std::abs(other.region.height - 47.0f * 16 / 17) < 1e-4f);
}

TEST_CASE("options of pictures change the answer, or are refused by name", "[image]") {
  PictureGolden golden("vit");
  const Picture picture = decode_picture(picture_file("rgb8.png"));
  const std::vector<float> plain = golden.pipeline->classify(picture).logits;
  const auto with = [&](const ImageOptions& options) {
    return golden.pipeline->classify(picture, options);
  };
  CHECK(with({.encoder = {.attention = true}}).logits == plain);
  CHECK(with({.encoder = {.ablate = {{.layer = 1, .head = 2}}}}).logits != plain);
  CHECK(with({.encoder = {.mask_tokens = {3}}}).logits != plain);
  CHECK(
      with({.encoder = {.patch = {{.name = "encoder.embed_positions", .value = {0.0f}}}}}).logits !=
      plain);

  const ImageClassification two = with({.top_k = 2});
  REQUIRE(two.best.size() == 2);
  CHECK(golden.pipeline->config().labels[two.best[0]] == two.label);
  CHECK(two.scores.size() == 5);

  const auto refusal = [&](const ImageOptions& options) {
    const Error error = error_of([&] { with(options); });
    CHECK(error.code() == ErrorCode::invalid_option);
    return std::string(error.what());
  };
  CHECK_THAT(refusal({.size = {{24, 16}}}), ContainsSubstring("set interpolate"));
  CHECK_THAT(refusal({.interpolate = true, .size = {{3, 16}}}), ContainsSubstring("one patch"));
  CHECK_THAT(refusal({.encoder = {.mask_tokens = {0}}}), ContainsSubstring("maskTokens"));
  CHECK_THAT(refusal({.encoder = {.mask_tokens = {17}}}), ContainsSubstring("below 17"));
  CHECK_THAT(refusal({.encoder = {.trace = {"encoder.embed_tokens"}}}),
             ContainsSubstring("encoder.embed_patches"));
  CHECK_THAT(refusal({.encoder = {.ablate = {{.layer = 2, .head = 0}}}}),
             ContainsSubstring("ablate"));
  CHECK_THAT(refusal({.encoder = {.gradients = {"encoder.embeddings"}, .gradient_token = 1}}),
             ContainsSubstring("gradientToken"));
  PictureGolden teacher("deit_teacher");
  const ImageOptions mask_second = {.encoder = {.mask_tokens = {1}}};
  CHECK(error_of([&] { teacher.pipeline->classify(picture, mask_second); }).code() ==
        ErrorCode::invalid_option);

  const std::string json =
      R"({"topK": 3, "interpolate": true, "size": [20, 24], "maskTokens": [2]})";
  const auto job = golden.pipeline->begin(TaskInputs(std::span(&picture, 1)), TaskOptions(json));
  while (job->step()) {
  }
  REQUIRE(job->finish() == 1);
  TensorsBeside writer;
  job->write(0, writer);
  const nlohmann::json written = nlohmann::json::parse(writer.take());
  CHECK(written.at("scores").size() == 3);
  CHECK(written.at("grid") ==
        nlohmann::json({{"rows", 5}, {"columns", 6}, {"special", {"[CLS]"}}}));
  CHECK(written.at("region").at("width") == 13);
  for (const char* wrong :
       {R"({"size": [1]})", R"({"size": 3})", R"({"topK": 0})", R"({"windows": 1})"}) {
    CHECK(error_of([&] { golden.pipeline->begin(TaskInputs{}, TaskOptions(wrong)); }).code() ==
          ErrorCode::invalid_option);
  }
}

TEST_CASE("configurations of pictures survive our config.json", "[image]") {
  const std::string name = GENERATE(from_range(picture_models));
  INFO(name);
  PictureGolden golden(name);
  ModelConfig config = golden.pipeline->config();
  const std::string json = to_json(config);
  const ModelConfig read = parse_config(json);
  config.pictures = {};
  CHECK(read == config);
  CHECK(to_json(read) == json);
  CHECK_THAT(json, ContainsSubstring("\"task\": \"image-classification\""));
  const nlohmann::json described =
      nlohmann::json::parse(describe_json(*golden.pipeline, 1, std::span<const std::string>()));
  CHECK(described.at("architecture").at("encoder").contains("patch_height"));
  CHECK(described.at("labels") == golden.json.at("labels"));
}

TEST_CASE("models of pictures can be written as they were published", "[image]") {
  const std::string name = GENERATE(from_range(picture_models));
  INFO(name);
  PictureGolden golden(name);
  const ModelConfig& config = golden.pipeline->config();
  if (name == "clip_classes") {  // its parts are those of another family
    CHECK(error_of([&] { published_config(config); }).code() == ErrorCode::unsupported);
    return;
  }
  const nlohmann::json written = nlohmann::json::parse(published_config(config));
  const nlohmann::json original = read_json(golden.folder / "config.json");
  for (const auto& [key, value] : written.items()) {
    INFO(key);
    REQUIRE(original.contains(key));
    CHECK(original.at(key) == value);
  }
  const std::string bytes = read_file(golden.folder / "model.safetensors", any_file);
  const auto file = SafetensorsFile::parse(std::as_bytes(std::span(bytes)));
  std::map<std::string, std::vector<std::size_t>> tensors;
  for (const TensorInfo& tensor : file.header().tensors()) tensors[tensor.name] = tensor.shape;
  const auto parameters = in_published_names(golden.pipeline->parameters(), config);
  for (const NamedParameter& parameter : parameters) {
    const std::string tensor = name == "vit_gray" && parameter.name.starts_with("vit.")
                                   ? parameter.name.substr(4)
                                   : parameter.name;
    INFO(tensor);
    REQUIRE(tensors.contains(tensor));
    CHECK(tensors.at(tensor) == parameter.shape);
  }
  ModelConfig other = config;
  other.architecture.encoder->layers[0].feed_forward.gated = true;
  CHECK(error_of([&] { published_config(other); }).code() == ErrorCode::unsupported);
}

TEST_CASE("broken configurations of pictures are refused by field", "[image]") {
  PictureGolden golden("deit_teacher");
  const nlohmann::json own = nlohmann::json::parse(to_json(golden.pipeline->config()));
  const auto refusal = [&](const char* field, nlohmann::json value) {
    nlohmann::json changed = own;
    changed[field] = std::move(value);
    const Error error = error_of([&] { parse_config(changed.dump()); });
    INFO(error.what());
    CHECK(error.code() == ErrorCode::invalid_config);
    CHECK_THAT(error.what(), ContainsSubstring(std::string("config.json: ") + field));
  };
  refusal("picture_height", 0);
  refusal("picture_width", 100000);
  refusal("patch_height", 17);
  refusal("channels", 2);
  const auto problem = [&](const char* field, nlohmann::json value) {
    nlohmann::json changed = own;
    changed[field] = std::move(value);
    return std::string(error_of([&] { parse_config(changed.dump()); }).what());
  };
  CHECK_THAT(problem("class_token", false), ContainsSubstring("distillation_token"));
  CHECK_THAT(problem("distillation_token", false), ContainsSubstring("distilled"));
  CHECK_THAT(problem("vocab_size", 7), ContainsSubstring("vocab_size"));
}

TEST_CASE("explanations of pictures agree with their runs", "[image]") {
  const std::string name = GENERATE(from_range(std::vector<std::string>{"vit", "deit_teacher"}));
  INFO(name);
  PictureGolden golden(name);
  const Picture picture = decode_picture(picture_file("jpeg_large.jpg"));
  const ClassifierExplainer explainer(*golden.pipeline);
  const ExplainInput input = explainer.read(picture);
  const std::size_t rows = input.text.tokens();
  const std::size_t label = explainer.answer(input);
  const ImageClassification plain = golden.pipeline->classify(picture);
  CHECK(golden.pipeline->config().labels[label] == plain.label);

  const Rollout rollout = explainer.rollout(input);
  for (std::size_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (std::size_t j = 0; j < rows; ++j)
      sum += static_cast<double>(rollout.matrix[row * rows + j]);
    CHECK(std::abs(sum - 1) < 1e-5);
  }
  const Lens lens = explainer.lens(input);
  CHECK(lens.tokens == rows);
  CHECK(distance(std::span(lens.logits).last(5), plain.logits) < 1e-5);
  CHECK(explainer.value_norms(input).heads.queries == rows);
  CHECK(explainer.relevance(input, label).scores.size() == rows);

  // The pixels are read by the patches alone, so the answer without them is that of zeros.
  IntegratedGradientsSum sum = explainer.integrated_gradients(input, label);
  while (sum.step()) {
  }
  const IntegratedGradients integrated = sum.take();
  CHECK(std::abs(integrated.gap) <
        0.05f * std::abs(integrated.value - integrated.baseline) + 0.02f);
  CHECK(integrated.scores[0] == 0);
  CHECK(explainer.gradient_times_input(input, label).scores.size() == rows);

  if (name == "vit") {
    const LogitAttribution attribution =
        explainer.direct_logit_attribution(input, {.label = {}, .effects = true});
    CHECK(std::abs(attribution.sum(attribution.written) - attribution.value) < 1e-4);
    CHECK(to_string(attribution.columns[0]) == "embed_patches");
  } else {
    CHECK(error_of([&] { explainer.direct_logit_attribution(input, {}); }).code() ==
          ErrorCode::unsupported);
  }

  FaithfulnessTest test = explainer.faithfulness(input, {.orders = 2});
  while (test.step()) {
  }
  const Faithfulness result = test.take();
  CHECK(result.losses.size() == rows - input.grid->special.size());
  // Without the first patch, the answer is that of a mask.
  const std::size_t first = input.grid->special.size();
  const std::vector<float> masked =
      golden.pipeline->classify(picture, {.encoder = {.mask_tokens = {first}}}).logits;
  const Contrast contrast = contrast_for(label, 5);
  const double loss = contrast.of(plain.logits.data()) - contrast.of(masked.data());
  CHECK(std::abs(static_cast<double>(result.losses[0]) - loss) < 1e-5);
}

TEST_CASE("explanations of pictures are written with their grid", "[image]") {
  PictureGolden golden("vit");
  const Picture picture = decode_picture(picture_file("rgb8.png"));
  const TaskInputs inputs = std::span(&picture, 1);
  for (const char* method :
       {"rollout", "value_norms", "value_zeroing", "lens", "direct_logit_attribution",
        "faithfulness", "circuit", "gradient_times_input", "relevance"}) {
    INFO(method);
    const std::string options =
        std::string(R"({"method": ")") + method + R"(", "interpolate": true, "size": [12, 16]})";
    const auto job = begin_explanation_job(*golden.pipeline, inputs, TaskOptions(options));
    while (job->step()) {
    }
    REQUIRE(job->finish() == 1);
    TensorsBeside writer;
    job->write(0, writer);
    const nlohmann::json written = nlohmann::json::parse(writer.take());
    CHECK(written.at("grid").at("rows") == 3);
    CHECK(!written.contains("tokens"));
  }
  for (const char* wrong :
       {R"({"method": "activation_patching"})", R"({"method": "lens", "words": 3})",
        R"({"method": "rollout", "label": "x"})"}) {
    const auto code =
        error_of([&] { begin_explanation_job(*golden.pipeline, inputs, TaskOptions(wrong)); });
    CHECK(code.code() == ErrorCode::invalid_option);
  }
}

TEST_CASE("the public class classifies files", "[image]") {
  ImageClassifier classifier = ImageClassifier::load(pictures_folder / "checkpoints" / "vit");
  CHECK(classifier.labels().size() == 5);
  const Picture picture = ImageClassifier::decode(picture_file("webp_lossy.webp"));
  CHECK(classifier.classify(picture).score > 0);
  CHECK(std::get<ImageClassification>(classifier.classify_batch({&picture, 1})[0]).label ==
        classifier.classify(picture).label);
  const Error error = error_of([] { ImageClassifier::load(checkpoints / "bert_sequence"); });
  CHECK(error.code() == ErrorCode::wrong_task);
}

}  // namespace glassformer::test
