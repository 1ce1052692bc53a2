// The module glassformer._core: any task's model, and the inputs that it is answering. Options and
// results are JSON, as for JavaScript, with tensors as arrays. The package's Python files give them
// their types.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "image/decode/decode.hpp"
#include "tasks/description.hpp"
#include "tasks/load.hpp"
#include "tasks/make_pipeline.hpp"

namespace py = pybind11;

namespace {

using namespace glassformer;

// Returns a glassformer.Error.
py::object python_error(const Error& error) {
  const std::string_view code = to_string(error.code()), message = error.what();
  const auto text = py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(message.data(), static_cast<py::ssize_t>(message.size()), "replace"));
  return py::module_::import("glassformer._errors").attr("Error")(code, text);
}

// Numbers that NumPy reads where they are, through Python's buffer protocol. So the module does not
// depend on a version of NumPy.
template <class Number>
struct Array {
  std::vector<Number> numbers;
  std::vector<std::size_t> shape;
};

template <class Number>
void bind_array(py::module_& module, const char* name) {
  py::class_<Array<Number>>(module, name, py::buffer_protocol())
      .def_buffer([](Array<Number>& array) {
        std::vector<py::ssize_t> shape(array.shape.begin(), array.shape.end());
        std::vector<py::ssize_t> strides(shape.size());
        py::ssize_t stride = sizeof(Number);
        for (std::size_t i = shape.size(); i-- > 0; stride *= shape[i]) strides[i] = stride;
        return py::buffer_info(array.numbers.data(), std::move(shape), std::move(strides));
      });
}

// Returns the numbers of an array of the package, [...], row-major.
template <class Number>
std::span<const Number> numbers_of(const py::buffer_info& array) {
  if (array.format != py::format_descriptor<Number>::format()) {
    throw py::type_error("unexpected numbers: " + array.format);
  }
  return {static_cast<const Number*>(array.ptr), static_cast<std::size_t>(array.size)};
}

// Returns the JSON of a result, and its tensors by name.
py::tuple to_python(TensorsBeside& result) {
  py::dict tensors;
  for (TracedTensor& tensor : result.take_tensors()) {
    tensors[py::str(tensor.name)] = Array<float>{std::move(tensor.data), std::move(tensor.shape)};
  }
  return py::make_tuple(result.take(), tensors);
}

// Returns the picture of pixels [height, width, channels].
Picture to_picture(const py::buffer& pixels) {
  const py::buffer_info array = pixels.request();
  const std::span<const std::uint8_t> bytes = numbers_of<std::uint8_t>(array);
  return {.width = static_cast<std::size_t>(array.shape.at(1)),
          .height = static_cast<std::size_t>(array.shape.at(0)),
          .channels = static_cast<std::size_t>(array.shape.at(2)),
          .bytes = {bytes.begin(), bytes.end()}};
}

// A loaded model. Its threads do not exist in a forked process, where every call fails and the
// memory is not freed.
class Model {
 public:
  Model(const std::filesystem::path& folder, const std::vector<std::string>& tasks,
        const std::optional<std::string>& compute, std::size_t threads, bool shortlist)
      : process_(getpid()) {
    std::vector<Task> wanted;
    for (const std::string& task : tasks) wanted.push_back(find_task(task).value());
    LoadOptions options = {.shortlist = shortlist, .threads = threads};
    for (const Compute known : {Compute::f32, Compute::int8, Compute::int4}) {
      if (compute == to_string(known)) options.compute = known;
    }
    if (compute && !options.compute) {
      throw Error(ErrorCode::invalid_option,
                  "compute: expected f32, int8 or int4, got " + *compute);
    }
    pipeline_ = load_pipeline(folder, wanted, options);
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  ~Model() {
    if (getpid() != process_) static_cast<void>(pipeline_.release());
  }

  // Returns describe_json.
  std::string description() const {
    return describe_json(pipeline(), element_count(pipeline().parameters()), {});
  }
  std::size_t threads() const { return pipeline().thread_pool().threads(); }
  std::string vocabulary() const { return vocabulary_json(pipeline()); }

  // Returns the parameters' names and shapes.
  std::vector<std::pair<std::string, std::vector<std::size_t>>> parameters() const {
    std::vector<std::pair<std::string, std::vector<std::size_t>>> shapes;
    for (const NamedParameter& each : pipeline().parameters()) {
      shapes.emplace_back(each.name, each.shape);
    }
    return shapes;
  }

  // Returns a parameter's numbers, as floats.
  Array<float> weight(const std::string& name) const {
    for (const NamedParameter& each : pipeline().parameters()) {
      if (each.name != name) continue;
      std::vector<float> numbers;
      for (std::size_t row = 0; row < each.shape.at(0); ++row) {
        const std::vector<float> values = row_of(each, row);
        numbers.insert(numbers.end(), values.begin(), values.end());
      }
      return {std::move(numbers), each.shape};
    }
    throw py::key_error(name);
  }

  Pipeline& pipeline() const {
    if (getpid() != process_) {
      throw std::runtime_error("the process was forked after the model was loaded: load it again");
    }
    return *pipeline_;
  }

 private:
  pid_t process_;
  std::unique_ptr<Pipeline> pipeline_;
};

// Inputs that a model is answering, in the thread that began. They keep the model.
class Work {
 public:
  Work(std::shared_ptr<const Model> model, const TaskInputs& inputs, const TaskOptions& options,
       bool explains)
      : model_(std::move(model)),
        job_(explains ? begin_linked_explanation(model_->pipeline(), inputs, options)
                      : model_->pipeline().begin(inputs, options)) {}

  // Works until there is progress to show, which it returns as to_python does, or to the end; then
  // returns None. Ctrl-C ends the work between two steps.
  py::object next() {
    check_thread();
    while (more_) {
      {
        const py::gil_scoped_release release;
        more_ = job_->step();
      }
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      TensorsBeside writer;
      if (job_->show(writer)) return to_python(writer);
    }
    return py::none();
  }

  // Returns what to_python returns, or an Error, for each input. Call it once, at the end.
  py::list results() {
    check_thread();
    py::list results;
    const std::size_t count = job_->finish();
    for (std::size_t i = 0; i < count; ++i) {
      try {
        TensorsBeside writer;
        job_->write(i, writer);
        results.append(to_python(writer));
      } catch (const Error& error) {
        results.append(python_error(error));
      }
    }
    return results;
  }

 private:
  void check_thread() const {
    model_->pipeline();
    if (std::this_thread::get_id() != thread_) {
      throw std::runtime_error("a stream is read in the thread that began it, not in another");
    }
  }

  std::shared_ptr<const Model> model_;
  std::unique_ptr<Job> job_;
  bool more_ = true;
  std::thread::id thread_ = std::this_thread::get_id();
};

using Text = std::pair<std::string, std::optional<std::string>>;

// Starts answering texts or pictures. `values` are the numbers that `options`, JSON, refer to.
Work start(const std::shared_ptr<const Model>& model, const std::vector<Text>& texts,
           const std::vector<py::buffer>& pixels, const std::string& options,
           const py::buffer& values, bool explains) {
  std::vector<TextInput> inputs;
  for (const auto& [text, pair] : texts) {
    inputs.push_back(pair ? TextInput(text, *pair) : TextInput(text));
  }
  std::vector<Picture> pictures;
  for (const py::buffer& picture : pixels) pictures.push_back(to_picture(picture));
  const py::buffer_info array = values.request();
  const std::span<const float> numbers = numbers_of<float>(array);
  const py::gil_scoped_release release;
  return Work(model, {.texts = inputs, .pictures = pictures}, {options, numbers}, explains);
}

Array<std::uint8_t> decode(const std::string& file) {
  Picture picture =
      decode_picture({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()});
  return {std::move(picture.bytes), {picture.height, picture.width, picture.channels}};
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      const py::object raised = python_error(error);
      PyErr_SetObject(py::type::of(raised).ptr(), raised.ptr());
    }
  });
  bind_array<float>(module, "Floats");
  bind_array<std::uint8_t>(module, "Bytes");
  using Released = py::call_guard<py::gil_scoped_release>;
  py::class_<Model, std::shared_ptr<Model>>(module, "Model")
      .def(py::init<const std::filesystem::path&, const std::vector<std::string>&,
                    const std::optional<std::string>&, std::size_t, bool>(),
           Released())
      .def("description", &Model::description)
      .def("threads", &Model::threads)
      .def("vocabulary", &Model::vocabulary)
      .def("parameters", &Model::parameters)
      .def("weight", &Model::weight)
      .def("start", start);
  py::class_<Work>(module, "Work").def("next", &Work::next).def("results", &Work::results);
  module.def("decode_picture", decode);
}
