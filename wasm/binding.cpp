// The engine as WebAssembly functions for wasm/src/engine.ts: one instance holds one model.
//
// Every function that can fail returns 0 for success and 1 for an error, and leaves JSON in
// gf_result: its answer, or {"error": {"code", "message"}}. Addresses and sizes are in bytes; what
// is passed in needs to live for the call only.

#include <emscripten/emscripten.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/config.hpp"
#include "io/json.hpp"
#include "io/safetensors.hpp"
#include "io/weights.hpp"
#include "pipelines/classify.hpp"
#include "pipelines/json.hpp"
#include "text/tokenizer.hpp"

namespace {

using namespace glassformer;

// The model and the answer to the last call.
struct Instance {
  std::unique_ptr<ClassifyPipeline> pipeline;
  std::optional<WeightsLoader> loader;  // until every weight is there
  std::size_t parameters = 0;
  std::string result;
  std::vector<std::vector<float>> attention;  // of each text of the last gf_classify, if captured
};

Instance instance;

// Runs `work`, whose JSON becomes the result. No exception leaves the module.
template <typename Work>
int answer(const Work& work) {
  try {
    instance.result = work();
    return 0;
  } catch (const Error& error) {
    instance.result = to_json(error);
  } catch (const std::bad_alloc&) {
    instance.result = to_json(Error(ErrorCode::internal, "out of memory"));
  } catch (const std::exception& error) {
    instance.result = to_json(Error(ErrorCode::internal, error.what()));
  }
  return 1;
}

std::span<const std::byte> bytes_of(const std::uint8_t* bytes, std::size_t size) {
  return std::as_bytes(std::span(bytes, size));
}

std::string plan_json(const WeightsLoader& loader) {
  nlohmann::json tensors = nlohmann::json::array();
  for (const TensorInfo& tensor : loader.tensors()) {
    tensors.push_back({{"name", tensor.name}, {"begin", tensor.begin}, {"end", tensor.end}});
  }
  return nlohmann::json({{"tensors", tensors}, {"staging", loader.staging_bytes()}}).dump();
}

}  // namespace

extern "C" {

// Memory for the caller to fill; 0 if there is none left.
EMSCRIPTEN_KEEPALIVE void* gf_alloc(std::size_t size) { return std::malloc(size); }
EMSCRIPTEN_KEEPALIVE void gf_free(void* pointer) { std::free(pointer); }

// Answers {"tensors": [{"name", "begin", "end"}], "staging"}: the order in which gf_load_tensor
// wants the tensors, where each lies in the data section, and the size of the largest.
EMSCRIPTEN_KEEPALIVE int gf_load_begin(const char* config, std::size_t config_size,
                                       const std::uint8_t* tokenizer, std::size_t tokenizer_size,
                                       const char* header, std::size_t header_size,
                                       double data_size) {
  return answer([&] {
    instance.loader.reset();
    instance.pipeline = std::make_unique<ClassifyPipeline>(
        parse_config({config, config_size}), Tokenizer::parse(bytes_of(tokenizer, tokenizer_size)));
    std::vector<Parameter> parameters = instance.pipeline->parameters();
    instance.parameters = 0;
    for (const Parameter& parameter : parameters) {
      instance.parameters += element_count(parameter.shape);
    }
    instance.loader.emplace(
        SafetensorsHeader::parse({header, header_size}, static_cast<std::uint64_t>(data_size)),
        std::move(parameters));
    return plan_json(*instance.loader);
  });
}

EMSCRIPTEN_KEEPALIVE int gf_load_tensor(std::size_t index, const std::uint8_t* bytes,
                                        std::size_t size) {
  return answer([&] {
    if (!instance.loader) throw Error(ErrorCode::internal, "no model is being loaded");
    instance.loader->load(index, bytes_of(bytes, size));
    return std::string("null");
  });
}

// Answers what the model is.
EMSCRIPTEN_KEEPALIVE int gf_load_end() {
  return answer([] {
    if (!instance.loader) throw Error(ErrorCode::internal, "no model is being loaded");
    instance.loader->finish();
    instance.loader.reset();
    return describe_json(instance.pipeline->config(), instance.parameters);
  });
}

// `texts` holds `count` texts one after the other, UTF-8, of the given lengths in bytes. Answers an
// array with each text's result or {"error"}; attention weights are left to gf_attention.
EMSCRIPTEN_KEEPALIVE int gf_classify(const char* texts, const std::uint32_t* lengths,
                                     std::size_t count, const char* options,
                                     std::size_t options_size) {
  instance.attention.clear();
  return answer([&] {
    if (!instance.pipeline || instance.loader) {
      throw Error(ErrorCode::internal, "no model is loaded");
    }
    std::vector<std::string_view> views;
    for (std::size_t i = 0; i < count; ++i) {
      views.emplace_back(texts, lengths[i]);
      texts += lengths[i];
    }
    auto results =
        instance.pipeline->classify_batch(views, parse_classify_options({options, options_size}));
    instance.attention.resize(count);
    std::string json = "[";
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) json += ',';
      if (const Error* error = std::get_if<Error>(&results[i])) {
        json += to_json(*error);
        continue;
      }
      auto& result = std::get<Classification>(results[i]);
      json += to_json(result, *instance.pipeline, AttentionData::left_out);
      if (result.attention) instance.attention[i] = std::move(result.attention->data);
    }
    return json + ']';
  });
}

EMSCRIPTEN_KEEPALIVE const char* gf_result() { return instance.result.data(); }
EMSCRIPTEN_KEEPALIVE std::size_t gf_result_size() { return instance.result.size(); }

// A text's attention weights, [layers, heads, queries, keys], until the next call of gf_classify.
EMSCRIPTEN_KEEPALIVE const float* gf_attention(std::size_t text) {
  return instance.attention[text].data();
}

// Their number; 0 if they were not asked for.
EMSCRIPTEN_KEEPALIVE std::size_t gf_attention_size(std::size_t text) {
  return instance.attention[text].size();
}

}  // extern "C"
