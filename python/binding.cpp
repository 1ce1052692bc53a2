// The module glassformer._core: any task's model, the inputs that it is answering, and a model that
// learns. Options and results are JSON, as for JavaScript, with tensors as NumPy arrays. The
// package's Python files give them their types.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/spelling.hpp"
#include "image/decode/decode.hpp"
#include "kernels/pool.hpp"
#include "tasks/chat/conversation.hpp"
#include "tasks/description.hpp"
#include "tasks/load.hpp"
#include "tasks/make_pipeline.hpp"
#include "tasks/pipeline.hpp"
#include "tasks/tokenize/tokenize.hpp"
#include "tasks/train/learning.hpp"

namespace nb = nanobind;

namespace {

using namespace glassformer;

// Arrays of the package, row-major.
using Pixels = nb::ndarray<const std::uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Values = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Returns a glassformer.Error.
nb::object python_error(const Error& error) {
  const std::string_view code = to_string(error.code()), message = error.what();
  const auto text = nb::steal<nb::str>(
      PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()), "replace"));
  return nb::module_::import_("glassformer._errors")
      .attr("Error")(nb::str(code.data(), code.size()), text, error.field());
}

std::string_view view_of(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }
nb::bytes bytes_of(std::string_view text) { return nb::bytes(text.data(), text.size()); }

// Returns a NumPy array that owns the numbers.
template <class Number>
nb::object to_array(std::vector<Number> numbers, const std::vector<std::size_t>& shape) {
  auto kept = std::make_unique<std::vector<Number>>(std::move(numbers));
  Number* const data = kept->data();
  const nb::capsule owner(
      kept.get(), [](void* all) noexcept { delete static_cast<std::vector<Number>*>(all); });
  static_cast<void>(kept.release());
  return nb::cast(nb::ndarray<nb::numpy, Number>(data, shape.size(), shape.data(), owner));
}

// Returns the JSON of a result, and its tensors by name.
nb::tuple to_python(TensorsBeside& result) {
  nb::dict tensors;
  for (TracedTensor& tensor : result.take_tensors()) {
    tensors[tensor.name.c_str()] = to_array(std::move(tensor.data), tensor.shape);
  }
  return nb::make_tuple(result.take(), tensors);
}

// A loaded model, or a tokenizer alone. Its threads do not exist in a forked process, where every
// call fails and the memory is not freed.
class LoadedModel {
 public:
  explicit LoadedModel(std::unique_ptr<Pipeline> pipeline) : pipeline_(std::move(pipeline)) {}
  LoadedModel(const LoadedModel&) = delete;
  LoadedModel& operator=(const LoadedModel&) = delete;
  virtual ~LoadedModel() {
    if (forked()) static_cast<void>(pipeline_.release());
  }

  // Returns describe_json or, of a tokenizer, describe_tokenizer_json.
  std::string description() {
    const auto* alone = dynamic_cast<const TokenizePipeline*>(&pipeline());
    if (alone) return describe_tokenizer_json(alone->tokenizer());
    return describe_json(pipeline(), element_count(pipeline().parameters()), {});
  }
  std::size_t threads() { return pipeline().thread_pool().threads(); }
  std::string vocabulary() { return vocabulary_json(pipeline()); }

  // Returns the parameters' names and shapes.
  std::vector<std::pair<std::string, std::vector<std::size_t>>> parameters() {
    std::vector<std::pair<std::string, std::vector<std::size_t>>> shapes;
    for (const NamedParameter& each : pipeline().parameters()) {
      shapes.emplace_back(each.name, each.shape);
    }
    return shapes;
  }

  // Returns a parameter's numbers, as floats.
  nb::object weight(const std::string& name) {
    for (const NamedParameter& each : newest().parameters()) {
      if (each.name != name) continue;
      std::vector<float> numbers;
      for (std::size_t row = 0; row < each.shape.at(0); ++row) {
        const std::vector<float> values = row_of(each, row);
        numbers.insert(numbers.end(), values.begin(), values.end());
      }
      return to_array(std::move(numbers), each.shape);
    }
    throw nb::key_error(name.c_str());
  }

  // Reads a folder of dictionaries.
  void load_dictionaries(const std::filesystem::path& folder) {
    glassformer::load_dictionaries(folder, pipeline());
  }

  virtual Pipeline& pipeline() {
    check_process();
    return *pipeline_;
  }
  // Returns the same, with the weights of the moment.
  virtual Pipeline& newest() { return pipeline(); }
  void check_process() const {
    if (forked()) {
      throw std::runtime_error("the process was forked after the model was loaded: load it again");
    }
  }

 protected:
  bool forked() const { return getpid() != process_; }

 private:
  pid_t process_ = getpid();
  std::unique_ptr<Pipeline> pipeline_;
};

std::unique_ptr<LoadedModel> load(const std::filesystem::path& folder,
                                  const std::vector<std::string>& tasks,
                                  const std::optional<std::string>& compute, std::size_t threads,
                                  bool shortlist) {
  std::vector<Task> wanted;
  for (const std::string& task : tasks) wanted.push_back(find_task(task).value());
  LoadOptions options = {.shortlist = shortlist, .threads = threads};
  for (const Compute known : {Compute::f32, Compute::int8, Compute::int4}) {
    if (compute == to_string(known)) options.compute = known;
  }
  if (compute && !options.compute) {
    throw Error(ErrorCode::invalid_option, "compute: expected f32, int8 or int4, got " + *compute);
  }
  return std::make_unique<LoadedModel>(load_pipeline(folder, wanted, options));
}

std::unique_ptr<LoadedModel> load_tokenizer_alone(const std::filesystem::path& folder) {
  FolderOnDisk files(folder);
  return std::make_unique<LoadedModel>(std::make_unique<TokenizePipeline>(files));
}

// A model that learns; it answers with the weights of the moment. One call at a time, except those
// that need no weights.
class Learner final : public LoadedModel {
 public:
  explicit Learner(std::size_t threads)
      : LoadedModel(nullptr),
        threads_(threads > 0 ? std::min(threads, Pool::most) : machine_threads()) {
    learning_->set_threads(threads_);
  }
  ~Learner() override {
    if (!forked()) return;
    static_cast<void>(learning_.release());
    static_cast<void>(pipeline_.release());
  }

  // Takes the model that learns further.
  void open(const std::filesystem::path& folder) {
    OpenFolder opened(folder);
    learning_->take_vocabulary(opened.files, opened.folder.folder());
    opened.load(learning_->start_from(opened.config, opened.folder.take_tokenizer()));
  }

  // `config` is empty for a model that learns further.
  std::string begin(const std::string& config, const nb::bytes& examples,
                    const std::string& options) {
    const std::string_view data = view_of(examples);
    return answer([&] {
      pipeline_ = learning_->begin(config, data, options);
      pipeline_->set_threads(threads_);
      return learning_->begun(*pipeline_);
    });
  }
  std::string step(double progress) {
    return answer([&] { return learning_->step(progress); });
  }
  // Without examples, evaluates on those that are held out.
  std::string evaluate(const nb::bytes& examples) {
    const std::string_view data = view_of(examples);
    return answer([&] { return learning_->evaluate(data); });
  }

  // Returns the files of a folder with the model: their names and bytes.
  std::vector<std::pair<std::string, nb::bytes>> save() {
    check_process();
    std::vector<Learning::File> files;
    {
      const nb::gil_scoped_release release;
      files = learning_->save();
    }
    std::vector<std::pair<std::string, nb::bytes>> saved;
    for (const Learning::File& file : files) saved.emplace_back(file.name, bytes_of(file.bytes));
    return saved;
  }

  Pipeline& pipeline() override {
    check_process();
    if (!pipeline_) throw std::runtime_error("the training has not begun");
    return *pipeline_;
  }
  Pipeline& newest() override {
    learning_->update(pipeline());
    return pipeline();
  }

 private:
  // Returns the function's JSON, or that of its error.
  template <class Function>
  std::string answer(const Function& function) {
    check_process();
    const nb::gil_scoped_release release;
    try {
      return function();
    } catch (const Error& error) {
      return to_json(error);
    }
  }

  std::size_t threads_;
  std::unique_ptr<Learning> learning_ = make_learning();
  std::unique_ptr<Pipeline> pipeline_;
};

// Inputs that a model is answering, in the thread that began. They keep the model.
class Work {
 public:
  Work(std::shared_ptr<LoadedModel> model, std::unique_ptr<Job> job)
      : model_(std::move(model)), job_(std::move(job)) {}

  // Works until there is progress to show, which it returns as to_python does, or to the end; then
  // returns None. Ctrl-C ends the work between two steps.
  nb::object next() {
    check_thread();
    while (more_) {
      {
        const nb::gil_scoped_release release;
        more_ = job_->step();
      }
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      TensorsBeside writer;
      if (job_->show(writer)) return to_python(writer);
    }
    return nb::none();
  }

  // Returns what to_python returns, or an Error, for each input. Call it once, at the end.
  nb::list results() {
    check_thread();
    if (more_ || !job_) throw std::runtime_error("results are there once, at the end");
    const std::unique_ptr<Job> job = std::move(job_);
    nb::list results;
    const std::size_t count = job->finish();
    for (std::size_t i = 0; i < count; ++i) {
      try {
        TensorsBeside writer;
        job->write(i, writer);
        results.append(to_python(writer));
      } catch (const Error& error) {
        results.append(python_error(error));
      }
    }
    return results;
  }

 private:
  void check_thread() const {
    model_->check_process();
    if (std::this_thread::get_id() != thread_) {
      throw std::runtime_error("a stream is read in the thread that began it, not in another");
    }
  }

  std::shared_ptr<LoadedModel> model_;
  std::unique_ptr<Job> job_;
  bool more_ = true;
  std::thread::id thread_ = std::this_thread::get_id();
};

using Text = std::pair<nb::bytes, std::optional<nb::bytes>>;

// Starts answering texts, in UTF-8, or pictures. `values` are the numbers that `options`, JSON,
// refer to.
std::unique_ptr<Work> start(const std::shared_ptr<LoadedModel>& model,
                            const std::vector<Text>& texts, const std::vector<Pixels>& pixels,
                            const std::string& options, const Values& values, bool explains) {
  std::vector<TextInput> inputs;
  for (const auto& [text, pair] : texts) {
    inputs.push_back(pair ? TextInput(view_of(text), view_of(*pair)) : TextInput(view_of(text)));
  }
  std::vector<Picture> pictures;
  for (const Pixels& each : pixels) {
    pictures.push_back({.width = each.shape(1),
                        .height = each.shape(0),
                        .channels = each.shape(2),
                        .bytes = {each.data(), each.data() + each.size()}});
  }
  const nb::gil_scoped_release release;
  Pipeline& pipeline = model->newest();
  const TaskInputs given = pictures.empty() ? TaskInputs(inputs) : TaskInputs(pictures);
  const TaskOptions task(options, {values.data(), values.size()});
  return std::make_unique<Work>(model, explains ? begin_linked_explanation(pipeline, given, task)
                                                : pipeline.begin(given, task));
}

nb::object decode(const nb::bytes& file) {
  const std::string_view bytes = view_of(file);
  Picture picture;
  {
    const nb::gil_scoped_release release;
    picture = decode_picture({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  }
  return to_array(std::move(picture.bytes), {picture.height, picture.width, picture.channels});
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const nb::object raised = python_error(error);
    PyErr_SetObject(raised.type().ptr(), raised.ptr());
  }
}

}  // namespace

NB_MODULE(_core, module) {
  set_spelling(Spelling::python);
#ifdef NDEBUG
  // Only the tests look for leaks: a program may end in a thread that has models.
  nb::set_leak_warnings(false);
#endif
  nb::register_exception_translator(translate);
  using Released = nb::call_guard<nb::gil_scoped_release>;
  nb::class_<LoadedModel>(module, "Model")
      .def("description", &LoadedModel::description)
      .def("threads", &LoadedModel::threads)
      .def("vocabulary", &LoadedModel::vocabulary)
      .def("parameters", &LoadedModel::parameters)
      .def("weight", &LoadedModel::weight)
      .def("load_dictionaries", &LoadedModel::load_dictionaries)
      .def("start", start)
      .def("chat_template",
           [](LoadedModel& model) { return ChatTemplate(model.pipeline().config().chat); });
  nb::class_<Learner, LoadedModel>(module, "Learner")
      .def(nb::init<std::size_t>())
      .def("open", &Learner::open, Released())
      .def("begin", &Learner::begin)
      .def("step", &Learner::step)
      .def("evaluate", &Learner::evaluate)
      .def("save", &Learner::save);
  nb::class_<Work>(module, "Work").def("next", &Work::next).def("results", &Work::results);
  nb::class_<ChatTemplate>(module, "ChatTemplate")
      .def(
          "text",
          [](const ChatTemplate& form, const std::string& request) { return form.text(request); },
          Released());
  module.def("load", load, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(),
             Released());
  module.def("load_tokenizer", load_tokenizer_alone, Released());
  module.def("decode_picture", decode);
}
