#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/spelling.hpp"
#include "families/folder/model_folder.hpp"
#include "families/linked.hpp"
#include "models/model.hpp"
#include "tasks/make_pipeline.hpp"
#include "tasks/pipeline.hpp"
#include "tasks/train/learning.hpp"

// What the functions of the module share: the state of an instance, and how they answer.

namespace glassformer {

// The files of a folder that have been handed in so far.
class GivenFiles final : public ModelFiles {
 public:
  std::optional<std::string_view> read(std::string_view name) override {
    const auto file = files_.find(name);
    if (file == files_.end() || (file->second.there && !file->second.bytes)) {
      add_once(to_read_, name);
      throw FilesWanted();
    }
    return file->second.bytes;
  }

  bool has(std::string_view name) override {
    const auto file = files_.find(name);
    if (file != files_.end()) return file->second.there;
    if (std::ranges::find(to_read_, name) == to_read_.end()) {
      std::erase(to_find_, name);
      to_find_.emplace(to_find_.begin(), name);
    }
    throw FilesWanted();
  }

  void prepare(std::span<const char* const> read, std::span<const char* const> found) override {
    for (const char* name : read) {
      if (!files_.contains(name)) add_once(to_read_, name);
    }
    for (const char* name : found) {
      if (!files_.contains(name)) add_once(to_find_, name);
    }
  }

  std::vector<std::string> names() override { return names_; }
  void add_name(std::string name) { names_.push_back(std::move(name)); }

  // Returns the buffer for a file's bytes, which the caller fills.
  char* give(const std::string& name, std::size_t size) {
    return files_.insert_or_assign(name, File{true, std::string(size, '\0')})
        .first->second.bytes->data();
  }
  void say(const std::string& name, bool there) {
    files_.insert_or_assign(name, File{there, std::nullopt});
  }

  // Forgets the requested files, before the work is retried.
  void forget_wanted() {
    to_read_.clear();
    to_find_.clear();
  }
  const std::vector<std::string>& to_read() const { return to_read_; }
  const std::vector<std::string>& to_find() const { return to_find_; }

 private:
  struct File {
    bool there;
    std::optional<std::string> bytes;
  };

  static void add_once(std::vector<std::string>& names, std::string_view name) {
    if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
  }

  std::map<std::string, File, std::less<>> files_;
  std::vector<std::string> names_, to_read_, to_find_;
};

// A model that is still loading.
struct Loading {
  std::optional<Compute> compute;
  std::vector<Task> wanted;  // the tasks that the model is loaded for; empty: any
  bool shortlisted = false;
  bool learns = false;     // the model learns further
  bool tokenizes = false;  // only the tokenizer is loaded
  std::string tokenizer;   // its description
  GivenFiles files;
  std::optional<ModelFolder> folder;
  std::optional<std::string> shortlist;
  std::vector<SafetensorsHeader> headers;
  std::string config_tensor;  // of a container, whose configuration is one of its tensors
  std::optional<WeightsLoader> loader;
};

// The model, the inputs in progress, and the answer to the last call.
struct Instance {
  Instance() { set_spelling(Spelling::script); }

  std::unique_ptr<Pipeline> pipeline;
  std::vector<OwnedText> texts;   // of the next job
  std::vector<Picture> pictures;  // or these
  std::unique_ptr<Job> job;
  std::unique_ptr<Loading> loading;     // null once all weights are loaded
  std::vector<NamedParameter> weights;  // of the pipeline; empty until one is read
  std::size_t parameters = 0;
  std::string result;
  std::vector<TracedTensor> tensors;  // of the result
  std::unique_ptr<Learning> learning = make_linked_learning ? make_linked_learning() : nullptr;
  std::vector<Learning::File> saved;  // by the last gf_learn_save
};

#if defined(__EMSCRIPTEN__)
inline Instance only_instance;
inline Instance& instance() { return only_instance; }
#else
// The add-on for Node has an instance per model. It sets this before each call.
inline thread_local Instance* current_instance = nullptr;
inline Instance& instance() { return *current_instance; }
#endif

// The body of a module function: takes its arguments as `work` and returns JSON.
using Answering = std::string (*)(const void* work);

// Runs a function; its JSON becomes the result. No exception leaves the module.
inline int answer(Answering answering, const void* work) {
  try {
    instance().result = answering(work);
    return 0;
  } catch (const Error& error) {
    instance().result = to_json(error);
  } catch (const std::bad_alloc&) {
    instance().result = to_json(Error(ErrorCode::internal, "out of memory"));
  } catch (const std::exception& error) {
    instance().result = to_json(Error(ErrorCode::internal, error.what()));
  }
  return 1;
}

template <typename Work>
int answer(const Work& work) {
  return answer([](const void* it) { return (*static_cast<const Work*>(it))(); }, &work);
}

inline std::span<const std::byte> bytes_of(const std::uint8_t* bytes, std::size_t size) {
  return std::as_bytes(std::span(bytes, size));
}

inline Loading& loading() {
  if (!instance().loading) throw_error(ErrorCode::internal, "no model is being loaded");
  return *instance().loading;
}

}  // namespace glassformer
