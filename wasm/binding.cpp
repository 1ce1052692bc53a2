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

#include "checkpoints/model_config.hpp"
#include "io/json_writer.hpp"
#include "io/safetensors.hpp"
#include "io/weights.hpp"
#include "models/model.hpp"
#include "pipelines/classify.hpp"
#include "pipelines/json.hpp"
#include "pipelines/translate.hpp"
#include "text/sentencepiece_tokenizer.hpp"

namespace {

using namespace glassformer;

// The model, which is of one task, and the answer to the last call.
struct Instance {
  std::unique_ptr<ClassifyPipeline> classifier;
  std::unique_ptr<TranslatePipeline> translator;
  std::optional<TranslatePipeline::Session> translation;  // under way
  std::optional<WeightsLoader> loader;                    // until every weight is there
  std::size_t parameters = 0;
  std::string result;
  std::vector<std::span<const float>> attention;  // of each map in the result, in its order
  std::vector<std::vector<float>> weights;        // those of them that nobody else holds
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

// `bytes` holds `count` pieces one after the other, of these lengths.
std::vector<std::string_view> pieces_of(const char* bytes, const std::uint32_t* lengths,
                                        std::size_t count) {
  std::vector<std::string_view> pieces;
  for (std::size_t i = 0; i < count; ++i) {
    pieces.emplace_back(bytes, lengths[i]);
    bytes += lengths[i];
  }
  return pieces;
}

// A size below zero is not known.
SafetensorsHeader parse_header(std::string_view header, double data_size) {
  if (data_size < 0) return SafetensorsHeader::parse(header, std::nullopt);
  return SafetensorsHeader::parse(header, static_cast<std::uint64_t>(data_size));
}

std::unique_ptr<Tokenizer> parse_tokenizer(std::string_view file) {
  return std::make_unique<SentencePieceTokenizer>(
      SentencePieceTokenizer::parse(std::as_bytes(std::span(file))));
}

// Leaves a map's weights to gf_attention, here from where they lie.
void show(const std::optional<AttentionMap>& map) {
  if (map) instance.attention.push_back(map->data);
}

// And here from a result that will be gone.
void keep(std::optional<AttentionMap>& map) {
  if (!map) return;
  instance.attention.push_back(instance.weights.emplace_back(std::move(map->data)));
}

void clear_attention() {
  instance.attention.clear();
  instance.weights.clear();
}

std::string plan_json(const WeightsLoader& loader) {
  JsonWriter json;
  json.object([&] {
    json.key("tensors");
    json.array(loader.tensors(), [&](const TensorInfo& tensor) {
      json.object([&] {
        json.field("name", tensor.name);
        json.field("begin", tensor.begin);
        json.field("end", tensor.end);
      });
    });
    json.field("staging", loader.staging_bytes());
  });
  return json.take();
}

// The arithmetic that the caller asks for: "f32" or "int8", or "" for that which the weights are
// stored for.
Compute compute_of(std::string_view name, const SafetensorsHeader& header) {
  if (name.empty()) return stored_compute(header);
  return name == "int8" ? Compute::int8 : Compute::f32;
}

// Starts to load weights into `parameters`.
std::string begin_loading(std::vector<Parameter> parameters, SafetensorsHeader header) {
  instance.parameters = element_count(parameters);
  instance.loader.emplace(std::move(header), std::move(parameters));
  return plan_json(*instance.loader);
}

template <typename Pipeline>
Pipeline& loaded(const std::unique_ptr<Pipeline>& pipeline) {
  if (!pipeline || instance.loader) throw Error(ErrorCode::internal, "no such model is loaded");
  return *pipeline;
}

TranslatePipeline::Session& translation() {
  if (!instance.translation) throw Error(ErrorCode::internal, "nothing is being translated");
  return *instance.translation;
}

// [{...} or {"error"}, ...]
template <typename Result, typename ToJson>
std::string results_json(std::vector<std::variant<Result, Error>>& results, const ToJson& json_of) {
  std::string json = "[";
  for (auto& result : results) {
    if (json.size() > 1) json += ',';
    const Error* error = std::get_if<Error>(&result);
    json += error ? to_json(*error) : json_of(std::get<Result>(result));
  }
  return json + ']';
}

}  // namespace

extern "C" {

// Ends the module where an exception has nowhere to go. The C++ runtime's own says so on a
// terminal, which there is none of, and brings printf along for it.
[[noreturn]] void abort_message(const char*, ...) { __builtin_trap(); }

// Which of the two binaries this is.
EMSCRIPTEN_KEEPALIVE bool gf_relaxed_simd() {
#if defined(__wasm_relaxed_simd__)
  return true;
#else
  return false;
#endif
}

// Memory for the caller to fill; 0 if there is none left.
EMSCRIPTEN_KEEPALIVE void* gf_alloc(std::size_t size) { return std::malloc(size); }
EMSCRIPTEN_KEEPALIVE void gf_free(void* pointer) { std::free(pointer); }

// `files` holds config.json, the header of model.safetensors, the name of the arithmetic,
// shortlist.bin (empty: none is wanted) and the tokenizers, one after the other, of the given
// lengths; `data_size` counts the bytes after the header, below zero if nobody knows. Answers
// {"tensors": [{"name", "begin", "end"}], "staging"}: the order in which gf_load_tensor wants the
// tensors, where each lies in the data section, and the size of the largest.
EMSCRIPTEN_KEEPALIVE int gf_load_classifier(const char* files, const std::uint32_t* lengths,
                                            std::size_t count, double data_size) {
  return answer([&] {
    const std::vector<std::string_view> parts = pieces_of(files, lengths, count);
    SafetensorsHeader header = parse_header(parts.at(1), data_size);
    instance.classifier = std::make_unique<ClassifyPipeline>(
        parse_config(parts[0]), parse_tokenizer(parts.at(4)), compute_of(parts[2], header));
    return begin_loading(instance.classifier->parameters(), std::move(header));
  });
}

// The same; with one tokenizer for both languages, or one for each.
EMSCRIPTEN_KEEPALIVE int gf_load_translator(const char* files, const std::uint32_t* lengths,
                                            std::size_t count, double data_size) {
  return answer([&] {
    const std::vector<std::string_view> parts = pieces_of(files, lengths, count);
    std::unique_ptr<Tokenizer> target;
    if (parts.size() > 5) target = parse_tokenizer(parts[5]);
    SafetensorsHeader header = parse_header(parts.at(1), data_size);
    std::optional<std::span<const std::byte>> shortlist;
    if (!parts[3].empty()) shortlist = std::as_bytes(std::span(parts[3]));
    instance.translator = std::make_unique<TranslatePipeline>(
        parse_config(parts[0]), parse_tokenizer(parts.at(4)), std::move(target),
        compute_of(parts[2], header), shortlist);
    return begin_loading(instance.translator->parameters(), std::move(header));
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
    const auto describe = [](const auto& pipeline) {
      return describe_json(pipeline.config(), instance.parameters, pipeline.compute());
    };
    return instance.classifier ? describe(*instance.classifier) : describe(*instance.translator);
  });
}

// `texts` holds `count` texts one after the other, UTF-8, of the given lengths in bytes. Answers an
// array with each text's result or {"error"}; attention weights are left to gf_attention.
EMSCRIPTEN_KEEPALIVE int gf_classify(const char* texts, const std::uint32_t* lengths,
                                     std::size_t count, const char* options,
                                     std::size_t options_size) {
  clear_attention();
  return answer([&] {
    ClassifyPipeline& classifier = loaded(instance.classifier);
    auto results = classifier.classify_batch(pieces_of(texts, lengths, count),
                                             parse_classify_options({options, options_size}));
    return results_json(results, [&](Classification& result) {
      std::string json = to_json(result, classifier, AttentionData::left_out);
      keep(result.attention);
      return json;
    });
  });
}

// Starts to translate texts, passed as in gf_classify, in place of those that are under way.
EMSCRIPTEN_KEEPALIVE int gf_translate_begin(const char* texts, const std::uint32_t* lengths,
                                            std::size_t count, const char* options,
                                            std::size_t options_size) {
  instance.translation.reset();
  clear_attention();
  return answer([&] {
    instance.translation = loaded(instance.translator)
                               .begin(pieces_of(texts, lengths, count),
                                      parse_translate_options({options, options_size}));
    return std::string("null");
  });
}

// Takes a step and answers where it led: {"done", "step"?}, see json.hpp.
EMSCRIPTEN_KEEPALIVE int gf_translate_step() {
  clear_attention();
  return answer([] {
    TranslatePipeline::Session& session = translation();
    session.step();
    if (const std::optional<StreamedToken>& token = session.streamed()) {
      const SentenceTranslation& sentence = session.sentence();
      if (sentence.output.tokens.size() == 1) show(sentence.encoder);
      show(token->decoder);
      show(token->cross);
    }
    return to_json(session, *instance.translator, AttentionData::left_out);
  });
}

// Answers like gf_classify, after the last step.
EMSCRIPTEN_KEEPALIVE int gf_translate_end() {
  clear_attention();
  return answer([] {
    auto results = translation().take_results();
    return results_json(results, [](Translation& result) {
      std::string json = to_json(result, *instance.translator, AttentionData::left_out);
      for (SentenceTranslation& sentence : result.sentences) {
        keep(sentence.encoder);
        keep(sentence.decoder);
        keep(sentence.cross);
      }
      return json;
    });
  });
}

// Frees what texts that are under way hold.
EMSCRIPTEN_KEEPALIVE void gf_translate_cancel() {
  instance.translation.reset();
  clear_attention();
}

EMSCRIPTEN_KEEPALIVE const char* gf_result() { return instance.result.data(); }
EMSCRIPTEN_KEEPALIVE std::size_t gf_result_size() { return instance.result.size(); }

// The weights [layers, heads, queries, keys] of the answer's attention map `index`, counted through
// the whole answer, until the next call.
EMSCRIPTEN_KEEPALIVE const float* gf_attention(std::size_t index) {
  return instance.attention[index].data();
}
EMSCRIPTEN_KEEPALIVE std::size_t gf_attention_size(std::size_t index) {
  return instance.attention[index].size();
}

}  // extern "C"
