// The add-on for Node: the functions of the binding, over Node-API. It exports open(), which
// returns an object with these functions for one model. Addresses are numbers, as in WebAssembly;
// read() and write() copy the bytes at an address, because JavaScript has no view of this memory.
//
// Every thread of Node that loads the add-on has its own `napi_env`, and every model belongs to one
// thread. Nothing is shared between them.

#include <node_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <type_traits>
#include <utility>

#include "../binding.hpp"
#include "../functions.hpp"

namespace {

using namespace glassformer;

// A call of Node-API failed, and JavaScript has an exception.
struct NodeFailed {};

void expect(napi_env env, napi_status status) {
  if (status == napi_ok) return;
  bool pending = false;
  napi_is_exception_pending(env, &pending);
  if (!pending) napi_throw_type_error(env, nullptr, "wrong argument");
  throw NodeFailed();
}

// A model, owned by the functions of its object together.
class Model {
 public:
  explicit Model(napi_env env) : env_(env) {}
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  ~Model() { release(); }

  // Frees the model before JavaScript's garbage collector does.
  void release() {
    for (void* memory : allocated) gf_free(memory);
    allocated.clear();
    instance.reset();
    report(0);
  }

  // Tells the garbage collector how many bytes the weights take, which are most of the memory.
  void report(std::int64_t bytes) {
    std::int64_t total;
    napi_adjust_external_memory(env_, bytes - reported_, &total);
    reported_ = bytes;
  }

  std::unique_ptr<Instance> instance = std::make_unique<Instance>();
  std::set<void*> allocated;  // by gf_alloc; an error may keep JavaScript from freeing it

 private:
  napi_env env_;
  std::int64_t reported_ = 0;
};

double number_of(napi_env env, napi_value value) {
  double number;
  expect(env, napi_get_value_double(env, value, &number));
  return number;
}

template <typename Value>
Value argument(napi_env env, napi_value given) {
  const double number = number_of(env, given);
  if constexpr (std::is_same_v<Value, double>) {
    return number;
  } else if constexpr (std::is_same_v<Value, bool>) {
    return number != 0;
  } else {
    if (!(number >= 0 && number <= 0x1p53)) {
      napi_throw_range_error(env, nullptr, "wrong address, size or index");
      throw NodeFailed();
    }
    const auto integer = static_cast<std::uintptr_t>(number);
    if constexpr (std::is_pointer_v<Value>) {
      return reinterpret_cast<Value>(integer);
    } else {
      return static_cast<Value>(integer);
    }
  }
}

template <typename Value>
napi_value number_for(napi_env env, Value value) {
  double number;
  if constexpr (std::is_pointer_v<Value>) {
    number = static_cast<double>(reinterpret_cast<std::uintptr_t>(value));
  } else {
    number = static_cast<double>(value);
  }
  napi_value made;
  expect(env, napi_create_double(env, number, &made));
  return made;
}

// The arguments of a call from JavaScript, and the model that it is for.
template <std::size_t count>
struct Call {
  Call(napi_env env, napi_callback_info info) {
    std::size_t given = count;
    void* data;
    expect(env, napi_get_cb_info(env, info, &given, arguments.data(), nullptr, &data));
    model = static_cast<Model*>(data);
  }

  std::array<napi_value, count + 1> arguments;  // the last one is unused
  Model* model;
};

// Calls a function of the binding for the model.
template <auto function>
struct Binding;

template <typename Result, typename... Arguments, Result (*function)(Arguments...)>
struct Binding<function> {
  static napi_value call(napi_env env, napi_callback_info info) {
    try {
      const Call<sizeof...(Arguments)> call(env, info);
      current_instance = call.model->instance.get();
      if (!current_instance) {
        napi_throw_error(env, nullptr, "the model was released");
        return nullptr;
      }
      return invoke(env, call.arguments, std::index_sequence_for<Arguments...>());
    } catch (const NodeFailed&) {
      return nullptr;
    }
  }

 private:
  template <typename Given, std::size_t... at>
  static napi_value invoke(napi_env env, const Given& given, std::index_sequence<at...>) {
    if constexpr (std::is_void_v<Result>) {
      function(argument<Arguments>(env, given[at])...);
      return nullptr;
    } else {
      return number_for(env, function(argument<Arguments>(env, given[at])...));
    }
  }
};

// alloc(size): gf_alloc.
napi_value alloc(napi_env env, napi_callback_info info) {
  try {
    const Call<1> call(env, info);
    void* memory = gf_alloc(argument<std::size_t>(env, call.arguments[0]));
    if (memory) call.model->allocated.insert(memory);
    return number_for(env, memory);
  } catch (const NodeFailed&) {
    return nullptr;
  }
}

// free(address): gf_free.
napi_value free(napi_env env, napi_callback_info info) {
  try {
    const Call<1> call(env, info);
    void* memory = argument<void*>(env, call.arguments[0]);
    if (call.model->allocated.erase(memory) > 0) gf_free(memory);
  } catch (const NodeFailed&) {
  }
  return nullptr;
}

// load_plan(): gf_load_plan, after which the size of the weights is known.
napi_value load_plan(napi_env env, napi_callback_info info) {
  napi_value status = Binding<gf_load_plan>::call(env, info);
  try {
    Model& model = *Call<0>(env, info).model;
    if (!status || !model.instance->loading || !model.instance->loading->loader) return status;
    const WeightsLoader& loader = *model.instance->loading->loader;
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < loader.starts().back(); ++i) {
      const TensorInfo& tensor = loader.tensor(i);
      if (!loader.ignores(i)) bytes += static_cast<std::int64_t>(tensor.end - tensor.begin);
    }
    model.report(bytes);
  } catch (const NodeFailed&) {
  }
  return status;
}

// read(address, size): returns a copy of the bytes, a Uint8Array.
napi_value read(napi_env env, napi_callback_info info) {
  try {
    const Call<2> call(env, info);
    const auto* from = argument<const std::byte*>(env, call.arguments[0]);
    const auto size = argument<std::size_t>(env, call.arguments[1]);
    void* to;
    napi_value buffer, bytes;
    expect(env, napi_create_arraybuffer(env, size, &to, &buffer));
    if (size > 0) std::memcpy(to, from, size);
    expect(env, napi_create_typedarray(env, napi_uint8_array, size, buffer, 0, &bytes));
    return bytes;
  } catch (const NodeFailed&) {
    return nullptr;
  }
}

// write(address, bytes): copies a Uint8Array to the address.
napi_value write(napi_env env, napi_callback_info info) {
  try {
    const Call<2> call(env, info);
    auto* to = argument<std::byte*>(env, call.arguments[0]);
    napi_typedarray_type type;
    std::size_t size;
    void* from;
    expect(env,
           napi_get_typedarray_info(env, call.arguments[1], &type, &size, &from, nullptr, nullptr));
    expect(env, type == napi_uint8_array ? napi_ok : napi_invalid_arg);
    if (size > 0) std::memcpy(to, from, size);
  } catch (const NodeFailed&) {
  }
  return nullptr;
}

// release(): frees the model. No other function may be called afterwards.
napi_value release(napi_env env, napi_callback_info info) {
  try {
    Call<0>(env, info).model->release();
  } catch (const NodeFailed&) {
  }
  return nullptr;
}

struct Function {
  const char* name;
  napi_callback call;
};

constexpr Function functions[] = {
    {"read", read},
    {"write", write},
    {"release", release},
    {"gf_alloc", alloc},
    {"gf_free", free},
    {"gf_load_begin", Binding<gf_load_begin>::call},
    {"gf_load_file", Binding<gf_load_file>::call},
    {"gf_load_found", Binding<gf_load_found>::call},
    {"gf_load_folder", Binding<gf_load_folder>::call},
    {"gf_load_header", Binding<gf_load_header>::call},
    {"gf_load_container", Binding<gf_load_container>::call},
    {"gf_load_config", Binding<gf_load_config>::call},
    {"gf_load_plan", load_plan},
    {"gf_load_tensor", Binding<gf_load_tensor>::call},
    {"gf_load_end", Binding<gf_load_end>::call},
    {"gf_load_random", Binding<gf_load_random>::call},
    {"gf_load_inspect", Binding<gf_load_inspect>::call},
    {"gf_weights", Binding<gf_weights>::call},
    {"gf_weight_row", Binding<gf_weight_row>::call},
    {"gf_dictionaries", Binding<gf_dictionaries>::call},
    {"gf_vocabulary", Binding<gf_vocabulary>::call},
    {"gf_chat", Binding<gf_chat>::call},
    {"gf_cancel", Binding<gf_cancel>::call},
    {"gf_texts", Binding<gf_texts>::call},
    {"gf_pictures", Binding<gf_pictures>::call},
    {"gf_begin", Binding<gf_begin>::call},
    {"gf_explain", Binding<gf_explain>::call},
    {"gf_gradients", Binding<gf_gradients>::call},
    {"gf_step", Binding<gf_step>::call},
    {"gf_end", Binding<gf_end>::call},
    {"gf_result", Binding<gf_result>::call},
    {"gf_result_size", Binding<gf_result_size>::call},
    {"gf_tensor", Binding<gf_tensor>::call},
    {"gf_tensor_size", Binding<gf_tensor_size>::call},
    {"gf_set_threads", Binding<gf_set_threads>::call},
    {"gf_learn_begin", Binding<gf_learn_begin>::call},
    {"gf_learn_step", Binding<gf_learn_step>::call},
    {"gf_learn_evaluate", Binding<gf_learn_evaluate>::call},
    {"gf_learn_save", Binding<gf_learn_save>::call},
    {"gf_learn_file", Binding<gf_learn_file>::call},
};

void add(napi_env env, napi_value object, const Function& function,
         const std::shared_ptr<Model>& model) {
  napi_value made;
  expect(env, napi_create_function(env, function.name, NAPI_AUTO_LENGTH, function.call, model.get(),
                                   &made));
  // Deleted when the function is garbage collected, or the thread ends.
  auto share = std::make_unique<std::shared_ptr<Model>>(model);
  const auto collected = [](napi_env, void* data, void*) {
    delete static_cast<std::shared_ptr<Model>*>(data);
  };
  expect(env, napi_add_finalizer(env, made, share.get(), collected, nullptr, nullptr));
  static_cast<void>(share.release());
  expect(env, napi_set_named_property(env, object, function.name, made));
}

// open(): returns the functions of a new model.
napi_value open(napi_env env, napi_callback_info) {
  try {
    napi_value object;
    expect(env, napi_create_object(env, &object));
    const auto model = std::make_shared<Model>(env);
    for (const Function& function : functions) add(env, object, function, model);
    return object;
  } catch (const NodeFailed&) {
    return nullptr;
  }
}

}  // namespace

NAPI_MODULE_INIT() {
  napi_value function;
  if (napi_create_function(env, "open", NAPI_AUTO_LENGTH, open, nullptr, &function) != napi_ok ||
      napi_set_named_property(env, exports, "open", function) != napi_ok) {
    return nullptr;
  }
  return exports;
}
