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
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoints/model_config.hpp"
#include "io/json_writer.hpp"
#include "io/safetensors.hpp"
#include "io/weights.hpp"
#include "models/model.hpp"
#include "pipelines/classify.hpp"
#include "pipelines/translate.hpp"
#include "text/sentencepiece_tokenizer.hpp"

namespace {

using namespace glassformer;

// The model, the texts that are under way, and the answer to the last call.
struct Instance {
  std::unique_ptr<Pipeline> pipeline;
  std::unique_ptr<Job> job;
  std::optional<WeightsLoader> loader;  // until every weight is there
  std::size_t parameters = 0;
  std::string result;
  std::vector<TracedTensor> tensors;  // of the result
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

std::string plan_json(const WeightsLoader& loader) {
  JsonWriter json;
  json.object([&] {
    json.key("tensors");
    json.array(std::views::iota(std::size_t{0}, loader.size()), [&](std::size_t i) {
      json.object([&] {
        json.field("name", loader.tensor(i).name);
        json.field("begin", loader.tensor(i).begin);
        json.field("end", loader.tensor(i).end);
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

Pipeline& loaded() {
  if (!instance.pipeline || instance.loader) throw Error(ErrorCode::internal, "no model is loaded");
  return *instance.pipeline;
}

Job& under_way() {
  if (!instance.job) throw Error(ErrorCode::internal, "no texts are under way");
  return *instance.job;
}

// {"result", "tensors": [{"name", "shape"}]}; the tensors' data is left to gf_tensor.
void write(JsonWriter& json, Result& result) {
  json.object([&] {
    json.key("result");
    json.raw(result.text);
    json.key("tensors");
    json.array(result.tensors, [&](TracedTensor& tensor) {
      json.object([&] {
        json.field("name", tensor.name);
        json.key("shape");
        json.array(tensor.shape, [&](std::size_t size) { json.value(size); });
      });
      instance.tensors.push_back(std::move(tensor));
    });
  });
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
    instance.pipeline = std::make_unique<ClassifyPipeline>(
        parse_config(parts[0]), parse_tokenizer(parts.at(4)), compute_of(parts[2], header));
    return begin_loading(instance.pipeline->parameters(), std::move(header));
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
    instance.pipeline = std::make_unique<TranslatePipeline>(
        parse_config(parts[0]), parse_tokenizer(parts.at(4)), std::move(target),
        compute_of(parts[2], header), shortlist);
    return begin_loading(instance.pipeline->parameters(), std::move(header));
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
    return describe_json(*instance.pipeline, instance.parameters);
  });
}

// Frees what texts that are under way, and the last answer's tensors, hold.
EMSCRIPTEN_KEEPALIVE void gf_cancel() {
  instance.job.reset();
  instance.tensors = {};
}

// Starts on texts, in place of those that are under way. `texts` holds `count` of them one after
// the other, UTF-8, of the given lengths in bytes; `options` is the task's JSON.
EMSCRIPTEN_KEEPALIVE int gf_begin(const char* texts, const std::uint32_t* lengths,
                                  std::size_t count, const char* options,
                                  std::size_t options_size) {
  gf_cancel();
  return answer([&] {
    instance.job = loaded().begin(pieces_of(texts, lengths, count), {options, options_size},
                                  ResultForm::json_and_tensors);
    return std::string("null");
  });
}

// Takes a step. Answers {"more", "progress"?: {"result", "tensors"}}: whether any is left, and what
// this one has to show.
EMSCRIPTEN_KEEPALIVE int gf_step() {
  instance.tensors.clear();
  return answer([] {
    const bool more = under_way().step();
    std::optional<Result> progress = under_way().progress();
    JsonWriter json;
    json.object([&] {
      json.field("more", more);
      if (!progress) return;
      json.key("progress");
      write(json, *progress);
    });
    return json.take();
  });
}

// After the last step: answers an array with {"result", "tensors"} or {"error"} of each text.
EMSCRIPTEN_KEEPALIVE int gf_end() {
  instance.tensors.clear();
  return answer([] {
    const std::unique_ptr<Job> job = std::move(instance.job);
    if (!job) throw Error(ErrorCode::internal, "no texts are under way");
    JsonWriter json;
    json.array(job->end(), [&](Outcome& outcome) {
      if (const Error* error = std::get_if<Error>(&outcome)) {
        json.raw(to_json(*error));
      } else {
        write(json, std::get<Result>(outcome));
      }
    });
    return json.take();
  });
}

EMSCRIPTEN_KEEPALIVE const char* gf_result() { return instance.result.data(); }
EMSCRIPTEN_KEEPALIVE std::size_t gf_result_size() { return instance.result.size(); }

// The data of the answer's tensor `index`, counted through the whole answer, until the next call.
EMSCRIPTEN_KEEPALIVE const float* gf_tensor(std::size_t index) {
  return instance.tensors[index].data.data();
}
EMSCRIPTEN_KEEPALIVE std::size_t gf_tensor_size(std::size_t index) {
  return instance.tensors[index].data.size();
}

}  // extern "C"
