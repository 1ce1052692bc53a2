// The engine as functions for wasm/src/engine/engine.ts: one instance holds one model. They are
// exported by WebAssembly modules and, through native/addon.cpp, by the add-on for Node.
//
// Every function that can fail returns 0 for success or 1 for an error, and leaves JSON in
// gf_result: its answer, or {"error": {"code", "message"}}. Addresses and sizes are in bytes.
// Arguments need to stay valid only during the call.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "binding.hpp"
#include "export.hpp"
#include "functions.hpp"

#include "base/json/json.hpp"
#include "base/json/json_writer.hpp"
#include "base/limits.hpp"
#include "families/linked.hpp"
#include "kernels/kernels.hpp"
#include "kernels/pool.hpp"
#include "models/initialize.hpp"
#include "run/tape.hpp"
#include "tasks/chat/chat_template.hpp"
#include "tasks/description.hpp"
#include "tasks/tokenize/tokenize.hpp"
#include "weights/tensor_container.hpp"

namespace {

using namespace glassformer;

// Returns {"read": [{"name", "max_bytes", "code"}], "find": [names]}.
std::string wanted_json(const GivenFiles& files) {
  JsonWriter json;
  json.object([&] {
    json.key("read");
    json.array(files.to_read(), [&](const std::string& name) {
      const FileLimit limit = limit_of(name);
      json.object([&] {
        json.field("name", name);
        json.field("max_bytes", limit.max_bytes);
        json.field("code", to_string(limit.code));
      });
    });
    json.key("find");
    json.array(files.to_find(), [&](const std::string& name) { json.value(name); });
  });
  return json.take();
}

// Returns {"task", "files": [{"tensors": [{"name", "begin", "end", "piece", "ignored"}]}],
// "staging"}.
std::string plan_json(std::string_view task, const WeightsLoader& loader) {
  JsonWriter json;
  json.object([&] {
    json.field("task", task);
    json.key("files");
    json.array([&] {
      for (std::size_t file = 0; file + 1 < loader.starts().size(); ++file) {
        json.object([&] {
          json.key("tensors");
          json.array([&] {
            for (std::size_t i = loader.starts()[file]; i < loader.starts()[file + 1]; ++i) {
              const TensorInfo& tensor = loader.tensor(i);
              json.object([&] {
                json.field("name", tensor.name);
                json.field("begin", tensor.begin);
                json.field("end", tensor.end);
                json.field("piece", loader.piece_bytes(i));
                json.field("ignored", loader.ignores(i));
              });
            }
          });
        });
      }
    });
    json.field("staging", loader.staging_bytes());
  });
  return json.take();
}

Learning& learning() {
  if (!instance().learning) {
    throw_error(ErrorCode::invalid_option, "module: expected glassformer.wasm, which also trains");
  }
  return *instance().learning;
}

// Makes a tokenizer, in place of a model. Throws NotLinked if the binary may lack its kind.
void make_tokenizer(GivenFiles& files) {
  if (!all_linked()) throw NotLinked();
  auto made = std::make_unique<TokenizePipeline>(files);
  loading().tokenizer = describe_tokenizer_json(made->tokenizer());
  instance().pipeline = std::move(made);
}

// Makes the configured model, without weights. Returns its parameters.
std::vector<NamedParameter> make_model(Loading& loading, ModelConfig config) {
  if (loading.learns) {
    return learning().start_from(std::move(config), loading.folder->take_tokenizer());
  }
  if (loading.shortlist && config.task != Task::translation) {
    throw_error(ErrorCode::invalid_option, "shortlist: expected a translator");
  }
  PipelineParts parts;
  parts.config = std::move(config);
  parts.tokenizer = loading.folder->take_tokenizer();
  parts.target_tokenizer = loading.folder->take_target_tokenizer();
  parts.compute = loading.compute.value_or(stored_compute(loading.headers.front()));
  if (loading.shortlist) parts.shortlist = std::as_bytes(std::span(*loading.shortlist));
  instance().pipeline = make_pipeline(std::move(parts));
  return instance().pipeline->parameters();
}

// Returns the description of the model that is being loaded. One that learns is described when its
// training begins.
std::string description() {
  if (loading().learns) return "{}";
  if (loading().tokenizes) return loading().tokenizer;
  std::vector<std::string> ignored;
  if (loading().loader) ignored = loading().loader->ignored();
  std::erase(ignored, loading().config_tensor);
  return describe_json(*instance().pipeline, instance().parameters, ignored);
}

// Makes the model, and the loader of its weights. Returns its task. A tokenizer has no weights.
std::string_view plan() {
  Loading& model = loading();
  if (model.tokenizes) {
    model.loader.emplace(std::vector<SafetensorsHeader>(), std::vector<NamedParameter>());
    return tokenization;
  }
  ModelConfig config = model.folder.value().config(model.headers, model.wanted);
  const Task task = config.task;
  std::vector<NamedParameter> parameters = make_model(model, std::move(config));
  model.shortlist.reset();
  instance().parameters = element_count(parameters);
  model.loader.emplace(model.folder->loader(model.headers, std::move(parameters)));
  model.headers.clear();
  return to_string(task);
}

Pipeline& loaded() {
  if (!instance().pipeline || instance().loading)
    throw_error(ErrorCode::internal, "no model is loaded");
  if (instance().learning) instance().learning->update(*instance().pipeline);
  return *instance().pipeline;
}

const std::vector<NamedParameter>& weights() {
  if (instance().weights.empty()) instance().weights = loaded().parameters();
  return instance().weights;
}

[[noreturn]] void refuse_to_explain() {
  throw_error(ErrorCode::unsupported,
              "explain: expected a model that was loaded with the option explain");
}

Job& under_way() {
  if (!instance().job) throw_error(ErrorCode::internal, "no texts are under way");
  return *instance().job;
}

// Starts a job on the inputs of the instance with `start(inputs, options)`.
int begin(const TaskOptions& options,
          std::unique_ptr<Job> (*start)(const TaskInputs&, const TaskOptions&)) {
  return answer([&] {
    const std::vector<OwnedText> owned = std::move(instance().texts);
    const std::vector<Picture> pictures = std::move(instance().pictures);
    std::vector<TextInput> texts;
    for (const OwnedText& text : owned) texts.push_back(text.input());
    const TaskInputs inputs = pictures.empty() ? TaskInputs(texts) : TaskInputs(pictures);
    instance().job = start(inputs, options);
    return std::string("null");
  });
}

// Writes {"result", "tensors": [{"name", "shape"}]}. gf_tensor returns the tensors' data.
void write(JsonWriter& json, TensorsBeside& result) {
  json.object([&] {
    json.key("result");
    json.raw(result.take());
    json.key("tensors");
    json.array(result.take_tensors(), [&](TracedTensor& tensor) {
      json.object([&] {
        json.field("name", tensor.name);
        json.key("shape");
        json.array(tensor.shape, [&](std::size_t size) { json.value(size); });
      });
      instance().tensors.push_back(std::move(tensor));
    });
  });
}

}  // namespace

extern "C" {

#if defined(__EMSCRIPTEN__)
// Traps on an uncaught exception. The C++ runtime's own version would print to a terminal, which
// does not exist here, and link printf.
[[noreturn]] void abort_message(const char*, ...) { __builtin_trap(); }
#endif

// Returns whether this is the binary with relaxed SIMD.
GLASSFORMER_EXPORT bool gf_relaxed_simd() { return has_relaxed_simd(); }

// Returns memory for the caller to fill; 0 if it has run out.
GLASSFORMER_EXPORT void* gf_alloc(std::size_t size) { return std::malloc(size); }
GLASSFORMER_EXPORT void gf_free(void* pointer) { std::free(pointer); }

// Starts to load a model, replacing the current one. `options` is JSON: {"compute"?: "f32",
// "int8" or "int4"; default: as the weights are stored, "task"?: what the model is loaded for;
// "tokenization": only the tokenizer is loaded, "shortlist"?: whether to load shortlist.bin,
// "learns"?: whether the model learns further (see gf_learn_begin), "names"?: all file names, if
// known}.
GLASSFORMER_EXPORT int gf_load_begin(const char* options, std::size_t size) {
  return answer([&] {
    constexpr JsonSource source{ErrorCode::invalid_option, "options"};
    JsonObject object(parse_json({options, size}, source), source);
    auto started = std::make_unique<Loading>();
    if (object.find("compute")) {
      const std::string compute = object.string("compute");
      started->compute = compute == "int4"   ? Compute::int4
                         : compute == "int8" ? Compute::int8
                                             : Compute::f32;
    }
    if (object.find("task")) {
      const std::string name = object.string("task");
      started->tokenizes = name == tokenization;
      if (const auto task = find_task(name)) started->wanted = {*task};
    }
    if (object.find("shortlist")) started->shortlisted = object.boolean("shortlist");
    if (object.find("learns")) started->learns = object.boolean("learns");
    if (const JsonValue* names = object.find("names")) {
      for (JsonEntries name(*names); name.next();) started->files.add_name(name.value().string());
    }
    instance().job.reset();
    instance().weights.clear();
    instance().pipeline.reset();
    instance().loading = std::move(started);
    return std::string("null");
  });
}

// Adds a file of the folder. Returns the address for its bytes, to be filled before the next call.
GLASSFORMER_EXPORT int gf_load_file(const char* name, std::size_t name_size, std::size_t size) {
  return answer([&] {
    const std::string file(name, name_size);
    expect_within(limit_of(file), size);
    char* bytes = loading().files.give(file, size);
    return std::to_string(reinterpret_cast<std::uintptr_t>(bytes));
  });
}

// Records whether a file exists, without its bytes.
GLASSFORMER_EXPORT int gf_load_found(const char* name, std::size_t name_size, bool there) {
  return answer([&] {
    loading().files.say({name, name_size}, there);
    return std::string("null");
  });
}

// Reads the whole folder except its weights. If files are missing, answers {"read": [{"name",
// "max_bytes", "code"}], "find": [names]}: "read" lists files whose bytes are needed, "find" those
// whose existence is unknown. Call again after supplying all of "read" or, if it is empty, the
// first of "find". When all files are present, answers {"weights": [names], "max_header_bytes",
// "container"}; "container" tells whether the weights are one TensorContainer. Answers null if the
// model may be of a kind that this binary lacks.
GLASSFORMER_EXPORT int gf_load_folder() {
  return answer([] {
    Loading& model = loading();
    model.files.forget_wanted();
    try {
      if (model.shortlisted) model.files.prepare(std::array{default_shortlist}, {});
      if (model.tokenizes) {
        make_tokenizer(model.files);
      } else {
        model.folder.emplace(model.files);
      }
      if (model.shortlisted) {
        const std::string& name = model.folder->shortlist();
        const std::optional<std::string_view> bytes = model.files.read(name);
        if (!bytes) throw_error(ErrorCode::missing_file, {"{}: expected it, got none", {name}});
        model.shortlist = *bytes;
      }
    } catch (const FilesWanted&) {
      model.folder.reset();
      return wanted_json(model.files);
    } catch (const NotLinked&) {
      instance().loading.reset();
      return std::string("null");
    }
    if (model.learns) learning().take_vocabulary(model.files, model.folder->folder());
    model.files = {};
    JsonWriter json;
    json.object([&] {
      std::vector<std::string> weights;
      if (model.folder) weights = model.folder->weight_files();
      json.key("weights");
      json.array(weights, [&](const std::string& name) { json.value(name); });
      json.field("max_header_bytes", header_limit.max_bytes);
      json.field("container", model.folder && model.folder->has_container());
    });
    return json.take();
  });
}

// Takes the header of each file of weights, in order, from the file's first byte. `data_size` is
// the number of bytes after it; negative: unknown. The first eight bytes are enough for a file that
// is none, or whose header is larger than `max_header_bytes`.
GLASSFORMER_EXPORT int gf_load_header(const char* header, std::size_t size, double data_size) {
  return answer([&] {
    std::optional<std::uint64_t> known;
    if (data_size >= 0) known = static_cast<std::uint64_t>(data_size);
    std::vector<SafetensorsHeader>& headers = loading().headers;
    const std::string& file = loading().folder.value().weight_files().at(headers.size());
    headers.push_back(SafetensorsHeader::parse(safetensors_header({header, size}), known, file));
    return std::string("null");
  });
}

// Takes the beginning of a TensorContainer file of `total` bytes, instead of gf_load_header.
// Answers {"header_bytes", "config"?: {"begin", "end"}}: the number of bytes to pass and, once they
// have been passed, which bytes of the data after them to pass to gf_load_config.
GLASSFORMER_EXPORT int gf_load_container(const std::uint8_t* start, std::size_t size,
                                         double total) {
  return answer([&] {
    if (!all_linked()) throw_error(ErrorCode::internal, "no container is being loaded");
    const std::span<const std::byte> bytes = bytes_of(start, size);
    const std::uint64_t wanted = TensorContainer::header_size(bytes);
    JsonWriter json;
    json.object([&] {
      json.field("header_bytes", wanted);
      if (wanted != size) return;
      TensorContainer container =
          TensorContainer::parse(bytes, static_cast<std::uint64_t>(total) - size);
      json.key("config");
      json.object([&] {
        json.field("begin", container.config.begin);
        json.field("end", container.config.end);
      });
      loading().config_tensor = container.config.name;
      loading().headers.push_back(std::move(container.header));
    });
    return json.take();
  });
}

GLASSFORMER_EXPORT int gf_load_config(const char* yaml, std::size_t size) {
  return answer([&] {
    loading().folder.value().take_config({yaml, size});
    return std::string("null");
  });
}

// Makes the model. Answers its task, the position of each file's tensors in its data section, in
// the order that gf_load_tensor expects, and the bytes to pass per call:
//
//     {"task", "files": [{"tensors": [{"name", "begin", "end", "piece", "ignored"}]}], "staging"}
//
// "staging" is the largest piece. Skip ignored tensors.
GLASSFORMER_EXPORT int gf_load_plan() {
  return answer([] {
    const std::string_view task = plan();
    return plan_json(task, *loading().loader);
  });
}

// Takes the next piece of a tensor. `index` counts through all files.
GLASSFORMER_EXPORT int gf_load_tensor(std::size_t index, const std::uint8_t* bytes,
                                      std::size_t size) {
  return answer([&] {
    loading().loader.value().load(index, bytes_of(bytes, size));
    return std::string("null");
  });
}

// Ends loading. Answers a description of the model.
GLASSFORMER_EXPORT int gf_load_end() {
  return answer([] {
    loading().loader.value().finish();
    std::string json = description();
    instance().loading.reset();
    return json;
  });
}

// Ends loading with random weights instead of those in the files. Answers the same.
GLASSFORMER_EXPORT int gf_load_random(std::uint32_t seed) {
  return answer([&] {
    std::string json = description();
    initialize(instance().pipeline->parameters(), seed);
    instance().loading.reset();
    return json;
  });
}

// Ends loading in place of gf_load_plan, without any weights. Answers {"model"?: the description,
// "config": the folder's configuration, "tensors": [{"name", "dtype", "shape", "ignored"}],
// "problem"?: {"error"}}: "problem" is the reason if the model cannot be loaded.
GLASSFORMER_EXPORT int gf_load_inspect() {
  return answer([] {
    if (!all_linked()) {
      throw_error(ErrorCode::invalid_option,
                  "module: expected glassformer.wasm, which has every kind of model");
    }
    std::vector<TensorInfo> tensors;
    for (const SafetensorsHeader& header : loading().headers) {
      tensors.insert(tensors.end(), header.tensors().begin(), header.tensors().end());
    }
    std::string problem;
    try {
      plan();
    } catch (const Error& error) {
      problem = to_json(error);
    }
    const std::optional<WeightsLoader>& loader = loading().loader;
    JsonWriter json;
    json.object([&] {
      json.key("config");
      json.raw(loading().folder.value().config_text());
      json.key("tensors");
      json.array([&] {
        for (std::size_t i = 0; i < tensors.size(); ++i) {
          if (tensors[i].name == loading().config_tensor) continue;
          json.object([&] {
            json.field("name", tensors[i].name);
            json.field("dtype", to_string(tensors[i].dtype));
            json.key("shape");
            json.array(tensors[i].shape, [&](std::size_t size) { json.value(size); });
            json.field("ignored", loader && loader->ignores(i));
          });
        }
      });
      if (instance().pipeline) {
        json.key("model");
        json.raw(description());
      }
      if (!problem.empty()) {
        json.key("problem");
        json.raw(problem);
      }
    });
    instance().loading.reset();
    instance().pipeline.reset();
    return json.take();
  });
}

// Answers [{"name", "shape"}]: the parameters of the model.
GLASSFORMER_EXPORT int gf_weights() {
  return answer([] {
    JsonWriter json;
    json.array(weights(), [&](const NamedParameter& parameter) {
      json.object([&] {
        json.field("name", parameter.name);
        json.key("shape");
        json.array(parameter.shape, [&](std::size_t size) { json.value(size); });
      });
    });
    return json.take();
  });
}

// Reads a row of a parameter, which gf_tensor(0) returns.
GLASSFORMER_EXPORT int gf_weight_row(const char* name, std::size_t size, std::size_t row) {
  return answer([&] {
    const std::string_view wanted(name, size);
    const std::vector<NamedParameter>& known = weights();
    const auto parameter = std::ranges::find(known, wanted, &NamedParameter::name);
    if (parameter == known.end()) {
      throw_error(ErrorCode::invalid_option,
                  {"name: the model has no weights {}", {describe(wanted)}});
    }
    instance().tensors.clear();
    instance().tensors.push_back({{}, {}, row_of(*parameter, row)});
    return std::string("null");
  });
}

// Gives the model dictionaries, whose parameters are then among its own.
GLASSFORMER_EXPORT int gf_dictionaries(const char* config, std::size_t config_size,
                                       const std::byte* weights_file, std::size_t size) {
  return answer([&] {
    if (!use_linked_dictionaries) refuse_to_explain();
    std::vector<NamedParameter> all = loaded().parameters();
    std::ranges::move(
        use_linked_dictionaries(loaded(), {config, config_size}, {weights_file, size}),
        std::back_inserter(all));
    instance().weights = std::move(all);
    return std::string("null");
  });
}

// Answers the displayed text of each token in the vocabulary.
GLASSFORMER_EXPORT int gf_vocabulary() {
  return answer([] { return vocabulary_json(loaded()); });
}

// Answers the text that the model's template makes of a chat; see ChatTemplate::text.
GLASSFORMER_EXPORT int gf_chat(const char* request, std::size_t size) {
  return answer([&] {
    if (!render_linked_chat) {
      throw_error(ErrorCode::invalid_option,
                  "module: expected glassformer.wasm, which has every kind of model");
    }
    JsonWriter json;
    json.value(render_linked_chat(loaded().config().chat, {request, size}));
    return json.take();
  });
}

// Frees the memory of texts in progress and of the last answer's tensors.
GLASSFORMER_EXPORT void gf_cancel() {
  instance().texts = {};
  instance().pictures = {};
  instance().job.reset();
  instance().tensors = {};
}

// Sets the texts of the next gf_begin or gf_explain: `count` texts in UTF-8 and their pairs, one
// after the other. `lengths` has two entries per text: its own length in bytes, and the length of
// its pair or 0xffffffff.
GLASSFORMER_EXPORT int gf_texts(const char* bytes, const std::uint32_t* lengths,
                                std::size_t count) {
  gf_cancel();
  return answer([&] {
    const char* next = bytes;
    const auto take = [&](std::uint32_t length) {
      return std::string_view(std::exchange(next, next + length), length);
    };
    for (std::size_t i = 0; i < count; ++i) {
      TextInput text(take(lengths[2 * i]));
      if (lengths[2 * i + 1] != 0xffffffff) text.pair = take(lengths[2 * i + 1]);
      instance().texts.emplace_back(text);
    }
    return std::string("null");
  });
}

// Sets the pictures of the next gf_begin or gf_explain instead: their bytes, one after the other.
// `sizes` has three entries per picture: width, height and channels.
GLASSFORMER_EXPORT int gf_pictures(const std::uint8_t* bytes, const std::uint32_t* sizes,
                                   std::size_t count) {
  gf_cancel();
  return answer([&] {
    for (std::size_t i = 0; i < count; ++i, sizes += 3) {
      Picture picture = {.width = sizes[0], .height = sizes[1], .channels = sizes[2]};
      const std::size_t size = picture.width * picture.height * picture.channels;
      picture.bytes.assign(bytes, bytes + size);
      bytes += size;
      instance().pictures.push_back(std::move(picture));
    }
    return std::string("null");
  });
}

// Starts on the texts or pictures. `options` is the JSON of the task's options; `values` holds the
// numbers that they refer to.
GLASSFORMER_EXPORT int gf_begin(const char* options, std::size_t size, const float* values,
                                std::size_t count) {
  return begin({std::string_view(options, size), {values, count}},
               [](const TaskInputs& inputs, const TaskOptions& task) {
                 return loaded().begin(inputs, task);
               });
}

// The same for explanations.
GLASSFORMER_EXPORT int gf_explain(const char* options, std::size_t size, const float* values,
                                  std::size_t count) {
  return begin({std::string_view(options, size), {values, count}},
               [](const TaskInputs& inputs, const TaskOptions& task) {
                 if (!begin_linked_explanation) refuse_to_explain();
                 return begin_linked_explanation(loaded(), inputs, task);
               });
}

// Returns whether the options may request gradients by the names of tensors.
GLASSFORMER_EXPORT bool gf_gradients() { return make_linked_tape != nullptr; }

// Takes a step. Answers {"more", "progress"?: {"result", "tensors"}}: whether a step is left, and
// this step's intermediate result.
GLASSFORMER_EXPORT int gf_step() {
  instance().tensors.clear();
  return answer([] {
    const bool more = under_way().step();
    TensorsBeside writer;
    const bool shows = under_way().show(writer);
    JsonWriter json;
    json.object([&] {
      json.field("more", more);
      if (!shows) return;
      json.key("progress");
      write(json, writer);
    });
    return json.take();
  });
}

// Call after the last step. Answers an array with {"result", "tensors"} or {"error"} per text.
GLASSFORMER_EXPORT int gf_end() {
  instance().tensors.clear();
  return answer([] {
    const std::unique_ptr<Job> job = std::move(instance().job);
    if (!job) throw_error(ErrorCode::internal, "no texts are under way");
    const std::size_t count = job->finish();
    JsonWriter json;
    json.array([&] {
      for (std::size_t i = 0; i < count; ++i) {
        try {
          TensorsBeside writer;
          job->write(i, writer);
          write(json, writer);
        } catch (const Error& error) {
          json.raw(to_json(error));
        }
      }
    });
    return json.take();
  });
}

// Starts a training: see Learning::begin. Answers Learning::begun.
GLASSFORMER_EXPORT int gf_learn_begin(const char* config, std::size_t config_size, const char* data,
                                      std::size_t data_size, const char* options,
                                      std::size_t options_size) {
  return answer([&] {
    instance().weights.clear();
    instance().pipeline =
        learning().begin({config, config_size}, {data, data_size}, {options, options_size});
    return learning().begun(*instance().pipeline);
  });
}

// Learns from the next examples: see Learning::step.
GLASSFORMER_EXPORT int gf_learn_step(double progress) {
  return answer([&] { return learning().step(progress); });
}

// See Learning::evaluate.
GLASSFORMER_EXPORT int gf_learn_evaluate(const char* data, std::size_t size) {
  return answer([&] { return learning().evaluate({data, size}); });
}

// Answers [{"name", "size"}]: the files of a folder with the model. gf_learn_file returns their
// bytes, until the next call of this.
GLASSFORMER_EXPORT int gf_learn_save() {
  return answer([] {
    instance().saved = learning().save();
    JsonWriter json;
    json.array(instance().saved, [&](const Learning::File& file) {
      json.object([&] {
        json.field("name", file.name);
        json.field("size", file.bytes.size());
      });
    });
    return json.take();
  });
}

GLASSFORMER_EXPORT const char* gf_learn_file(std::size_t index) {
  return instance().saved[index].bytes.data();
}

GLASSFORMER_EXPORT const char* gf_result() { return instance().result.data(); }
GLASSFORMER_EXPORT std::size_t gf_result_size() { return instance().result.size(); }

// Returns the data of tensor `index`, counted through the whole answer. Valid until the next call.
GLASSFORMER_EXPORT const float* gf_tensor(std::size_t index) {
  return instance().tensors[index].data.data();
}
GLASSFORMER_EXPORT std::size_t gf_tensor_size(std::size_t index) {
  return instance().tensors[index].data.size();
}

#if GLASSFORMER_THREADS
// Sets the number of threads of the model that was loaded, the calling one included. Ends inputs in
// progress.
GLASSFORMER_EXPORT int gf_set_threads(std::size_t threads) {
  gf_cancel();
  return answer([&] {
    loaded().set_threads(std::clamp(threads, std::size_t{1}, Pool::most));
    return std::string("null");
  });
}
#endif

}  // extern "C"
