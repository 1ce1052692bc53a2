// Structure-aware mutations of published checkpoints. Every folder either can be opened and used,
// with finite results only, or is refused with a typed error. Mutations are deterministic:
//
//   published_folder_fuzzer COUNT [SEED [FOLDER...]]      COUNT mutations, the same ones for a SEED
//   published_folder_fuzzer SECONDSs [SEED [FOLDER...]]   as many as fit into this time: "3600s"
//
// A folder that fails is kept in the temporary folder named in the last line of output.

#include <sanitizer/common_interface_defs.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/strings/utf8.hpp"
#include "tasks/embedded_tensors.hpp"
#include "tasks/explain/explain.hpp"
#include "tasks/load.hpp"
#include "tasks/pipeline.hpp"

// Limits memory to more than any small folder may allocate.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0:max_allocation_size_mb=2048:allocator_may_return_null=0";
}

using namespace glassformer;
namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;
using Files = std::map<std::string, std::string>;  // bytes by name

// A limit on CPU time; no folder takes this long under the sanitizers.
constexpr long most_seconds = 40;

// A limit on the steps of a job. A folder may ask for texts of as many tokens as its model has
// positions, 16,384 for T5, and the time for all of them grows with the square of their number.
constexpr int most_steps = 1000;

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::size_t below(std::size_t n) { return n == 0 ? 0 : engine_() % n; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  template <class List>
  const auto& of(const List& list) {
    return list[below(std::size(list))];
  }

 private:
  std::mt19937_64 engine_;
};

// A placeholder, replaced after writing by text that no JSON value produces.
const std::string marker = "glassformer raw ";

const std::vector<std::string>& raw_values() {
  static const std::vector<std::string> values = [] {
    std::vector<std::string> made = {"NaN",
                                     "Infinity",
                                     "-Infinity",
                                     "1e999",
                                     "-1e999",
                                     "1e-999",
                                     "00",
                                     "0x10",
                                     "1.",
                                     "+1",
                                     "-",
                                     "tru",
                                     "\"\\ud800\"",
                                     "\"\\udc00\\ud800\"",
                                     "\"\\u0000\"",
                                     "\"\x01\"",
                                     "\"\xff\"",
                                     "'a'",
                                     "{\"a\":1,\"a\":2}",
                                     "1" + std::string(400, '0'),
                                     "0." + std::string(400, '0') + "1",
                                     "\"" + std::string(70'000, 'x') + "\"",
                                     std::string(3000, '[') + std::string(3000, ']')};
    std::string deep = "1";
    for (int i = 0; i < 300; ++i) deep = "{\"a\":" + deep + "}";
    made.push_back(deep);
    return made;
  }();
  return values;
}

constexpr double numbers[] = {0,
                              -1,
                              1,
                              2,
                              3,
                              7,
                              255,
                              65535,
                              65536,
                              1e6,
                              1 << 24,
                              2147483647,
                              2147483648,
                              4294967296,
                              9007199254740992,
                              1.8446744073709552e19,
                              1e30,
                              -1e30,
                              1e38,
                              3.4e38,
                              3.5e38,
                              1e308,
                              1e-320,
                              0.5,
                              -0.5,
                              1.5,
                              1e-30};
constexpr const char* texts[] = {"", "a", "\n", "\x1b[2J", "../../etc/passwd", "[UNK]", "##", " "};

Json other_value(const Json& value, Random& random) {
  if (random.one_in(6)) return marker + std::to_string(random.below(raw_values().size()));
  if (random.one_in(8)) return random.one_in(2) ? Json(nullptr) : Json::array();
  if (random.one_in(8)) return random.one_in(2) ? Json::object() : Json(random.one_in(2));
  if (value.is_number()) {
    if (random.one_in(2)) {
      const double number = random.of(numbers);
      const bool whole = std::abs(number) < 0x1p63 && number == std::trunc(number);
      return whole ? Json(static_cast<std::int64_t>(number)) : Json(number);
    }
    if (!value.is_number_integer()) return -value.get<double>();
    const auto whole = value.get<std::int64_t>();
    const std::int64_t near[] = {whole + 1, whole - 1, 2 * (whole % (1 << 30)), -whole,
                                 whole + 100};
    return random.of(near);
  }
  if (value.is_string()) {
    std::string text = value.get<std::string>();
    switch (random.below(4)) {
      case 0:
        return text.substr(0, random.below(text.size() + 1));
      case 1:
        return text + random.of(texts);
      case 2:
        return text + std::string(3000, 'x');
      default:
        return random.of(texts);
    }
  }
  if (value.is_array() && !value.empty()) {
    Json list = value;
    if (random.one_in(2)) {
      for (const Json& entry : value) list.push_back(entry);
    } else {
      list.erase(list.size() - 1);
    }
    return list;
  }
  if (value.is_boolean()) return !value.get<bool>();
  return random.of(numbers);
}

// Collects all containers of a document, so that each is equally likely to be picked, whatever its
// size.
void collect(Json& value, std::vector<Json*>& containers) {
  if (!value.is_structured()) return;
  if (!value.empty()) containers.push_back(&value);
  for (Json& entry : value) collect(entry, containers);
}

void mutate_once(Json& document, Random& random) {
  std::vector<Json*> containers;
  collect(document, containers);
  if (containers.empty()) {
    document = other_value(document, random);
    return;
  }
  // Prefers outer containers: they have the fields that matter most.
  Json& container = *containers[random.below(
      random.one_in(2) ? std::min<std::size_t>(containers.size(), 4) : containers.size())];
  auto place = container.begin();
  std::advance(place, static_cast<std::ptrdiff_t>(random.below(container.size())));
  switch (random.below(6)) {
    case 0:
      container.erase(place);
      break;
    case 1:  // twice, or under another name
      if (container.is_array()) {
        container.push_back(Json(*place));
      } else {
        container[place.key() + random.of(texts)] = Json(*place);
      }
      break;
    case 2: {  // a copy of another value
      Json& from = *containers[random.below(containers.size())];
      auto other = from.begin();
      std::advance(other, static_cast<std::ptrdiff_t>(random.below(from.size())));
      Json copy = *other;
      *place = std::move(copy);
      break;
    }
    default:
      *place = other_value(*place, random);
  }
}

std::string written(const Json& document) {
  std::string text = document.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (std::size_t i = raw_values().size(); i-- > 0;) {
    const std::string mark = "\"" + marker + std::to_string(i) + "\"";
    for (std::size_t at; (at = text.find(mark)) != std::string::npos;) {
      text.replace(at, mark.size(), raw_values()[i]);
    }
  }
  return text;
}

void mutate_bytes(std::string& bytes, Random& random) {
  for (std::size_t i = 1 + random.below(8); i > 0; --i) {
    const std::size_t at = random.below(bytes.size());
    switch (bytes.empty() ? 2 : random.below(6)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
        break;
      case 1:
        bytes[at] = "\0\x01\x7f\x80\xff\n 0"[random.below(8)];
        break;
      case 2:
        bytes.insert(at, 1 + random.below(8), static_cast<char>(random.below(256)));
        break;
      case 3:
        bytes.erase(at, 1 + random.below(64));
        break;
      case 4:
        bytes.insert(at, bytes.substr(random.below(bytes.size()), 1 + random.below(200)));
        break;
      default:
        if (random.one_in(6)) bytes.resize(at);
    }
  }
}

std::string mutated_json(const std::string& text, Random& random) {
  Json document = Json::parse(text, nullptr, false);
  if (document.is_discarded() || random.one_in(12)) {
    std::string bytes = text;
    mutate_bytes(bytes, random);
    return bytes;
  }
  constexpr std::size_t counts[] = {1, 1, 1, 2, 3, 6};
  for (std::size_t i = random.of(counts); i > 0; --i) mutate_once(document, random);
  return written(document);
}

// Changes the header, its length, the numbers, or arbitrary bytes.
std::string mutated_safetensors(const std::string& file, Random& random) {
  std::uint64_t size = 0;
  if (file.size() > sizeof size) std::memcpy(&size, file.data(), sizeof size);
  if (size > file.size() - sizeof size || random.one_in(10)) {
    std::string bytes = file;
    mutate_bytes(bytes, random);
    return bytes;
  }
  const std::string header = file.substr(sizeof size, size);
  std::string data = file.substr(sizeof size + size);
  const auto with_size = [&](std::uint64_t length, const std::string& text) {
    std::string bytes(reinterpret_cast<const char*>(&length), sizeof length);
    return bytes + text + data;
  };
  if (random.one_in(8)) {
    const std::uint64_t sizes[] = {0,           1,           size - 1,   size + 1,
                                   100'000'000, 100'000'001, 1ull << 62, ~0ull};
    return with_size(random.of(sizes), header);
  }
  if (random.one_in(4)) {  // weights that overflow floats
    constexpr std::uint32_t floats[] = {0x7FC00000, 0x7F800000, 0x7F7FFFFF, 0xFF7FFFFF,
                                        0x7E967699, 0xFE967699, 0x00000001};
    const std::uint32_t number = random.of(floats);
    const std::size_t begin = random.below(data.size() / 4) * 4;
    const std::size_t count = random.one_in(2) ? 1 : random.below(4000);
    for (std::size_t i = 0; i < count && begin + 4 * i + 4 <= data.size(); ++i) {
      std::memcpy(&data[begin + 4 * i], &number, sizeof number);
    }
    return with_size(size, header);
  }
  Json document = Json::parse(header, nullptr, false);
  for (std::size_t i = 1 + random.below(3); i > 0; --i) {
    if (!document.is_object() || document.empty()) break;
    auto tensor = document.begin();
    std::advance(tensor, static_cast<std::ptrdiff_t>(random.below(document.size())));
    const auto set = [&](const char* key, Json value) {
      if (tensor->is_object()) (*tensor)[key] = std::move(value);
    };
    const std::int64_t extents[] = {0, 1, 2, -1, 1 << 24, 1ll << 32, 1ll << 62};
    switch (random.below(5)) {
      case 0: {
        constexpr const char* dtypes[] = {"F16", "BF16", "F64", "I8", "U8", "I64", "BOOL", "X", ""};
        set("dtype", random.of(dtypes));
        break;
      }
      case 1:
        set("shape", random.one_in(3) ? Json::array()
                                      : Json::array({random.of(extents), random.of(extents)}));
        break;
      case 2: {
        const auto end = static_cast<std::int64_t>(data.size());
        const std::int64_t offsets[] = {0, 4, -4, end, end + 4, end - 4, 1ll << 62};
        set("data_offsets", Json::array({random.of(offsets), random.of(offsets)}));
        break;
      }
      case 3:
        document[tensor.key() + "x"] = Json(*tensor);
        break;
      default:
        mutate_once(document, random);
    }
  }
  const std::string text = written(document);
  return with_size(text.size(), text);
}

// Changes lists of words and merges, by lines or by bytes.
std::string mutated_text(const std::string& text, Random& random) {
  std::string bytes = text;
  if (random.one_in(2)) {
    mutate_bytes(bytes, random);
    return bytes;
  }
  const std::size_t at = bytes.find('\n', random.below(bytes.size()));
  if (at == std::string::npos) return bytes;
  const std::size_t end = std::min(bytes.find('\n', at + 1), bytes.size() - 1);
  switch (random.below(3)) {
    case 0:
      bytes.erase(at, end - at);
      break;
    case 1:
      bytes.insert(at, bytes.substr(at, end - at));
      break;
    default:
      bytes.insert(at, "\n" + std::string(random.of(texts)));
  }
  return bytes;
}

std::string mutated(const std::string& name, const std::string& bytes, Random& random) {
  if (random.one_in(60)) return {};
  if (name.ends_with(".json")) return mutated_json(bytes, random);
  if (name.ends_with(".safetensors")) return mutated_safetensors(bytes, random);
  if (name.ends_with(".txt")) return mutated_text(bytes, random);
  std::string changed = bytes;
  mutate_bytes(changed, random);
  return changed;
}

void write_file(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// A checkpoint and its working copy, which is mutated and restored.
struct Folder {
  std::string name;
  fs::path path;
  Files files;
};

Folder copy_of(const fs::path& from, const fs::path& to) {
  Folder folder = {from.filename().string(), to / from.filename(), {}};
  for (const auto& entry : fs::recursive_directory_iterator(from)) {
    const std::string name = fs::relative(entry.path(), from).string();
    if (!entry.is_regular_file() || name.starts_with("expected") || name.starts_with("golden")) {
      continue;
    }
    std::ifstream file(entry.path(), std::ios::binary);
    std::string& bytes = folder.files[name];
    bytes.assign(std::istreambuf_iterator<char>(file), {});
    write_file(folder.path / name, bytes);
  }
  return folder;
}

// Checks that results have only finite numbers; others would be written as null.
void check(const std::string& result, bool may_have_null) {
  const Json json = Json::parse(result, nullptr, false);
  if (json.is_discarded()) std::abort();
  if (!may_have_null && result.find("null") != std::string::npos) std::abort();
}

// Takes the steps of a job. Returns whether it has ended within the limit.
bool run(Job& job) {
  for (int i = 0; i < most_steps; ++i) {
    if (!job.step()) return true;
  }
  return false;
}

void use(Pipeline& pipeline, Random& random) {
  constexpr std::string_view inputs[] = {
      "a film", "", "The quick brown fox. ab ac ad!", "x x x x x x x x x x",
      "\xC3\xA9\xE4\xB8\xAD \xF0\x9F\x98\x80 ?! \xFF [MASK] <mask> ## </s>"};
  const Task task = pipeline.config().task;
  std::string options = "{}";
  if (writes(task)) {
    constexpr std::string_view wishes[] = {
        "{}", R"({"beams": 2, "attention": true, "hypotheses": true})",
        R"({"attention": true, "stream": true})", R"({"trace": ["decoder.layers.*.output"]})"};
    options = random.of(wishes);
    if (task == Task::translation && options.size() < 3) options = R"({"max_length": 12})";
    if (task != Task::translation && random.one_in(4)) options = R"({"count": 3})";
    if (task != Task::translation && random.one_in(4)) options = R"({"seed": 3, "temperature": 2})";
  } else if (random.one_in(2)) {
    options = R"({"attention": true, "trace": ["*.*"]})";
  }
  for (int i = 0; i < 2; ++i) {
    TextInput text(random.of(inputs));
    if (task == Task::question_answering) text.pair = random.of(inputs);
    try {
      const auto job = pipeline.begin({std::span(&text, 1)}, options);
      if (!run(*job)) continue;
      // A trace may have any values; attention is base64.
      check(only(results_as_json(*job)), true);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::internal) throw;
    }
  }
  if (task != Task::text_classification && task != Task::translation &&
      task != Task::text_generation) {
    return;
  }
  constexpr std::string_view methods[] = {
      "rollout", "value_norms",  "value_zeroing", "lens", "direct_logit_attribution",
      "circuit", "faithfulness", "decoder_lens"};
  const std::string method(random.of(methods));
  const TextInput text(random.of(inputs));
  try {
    const std::string wanted = R"({"method": ")" + method + R"("})";
    const auto job = begin_explanation_job(pipeline, {std::span(&text, 1)}, wanted);
    if (!run(*job)) return;
    check(only(results_as_json(*job)), false);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) throw;
  }
}

std::string current;  // the current mutation, for analyzing a failure

void say(std::string_view text) { static_cast<void>(!::write(2, text.data(), text.size())); }

extern "C" void say_current() {
  say("while trying ");
  say(current);
  say("\n");
}

extern "C" void aborted(int) { say_current(); }

extern "C" void too_long(int) {
  say("no end within the time\n");
  std::abort();
}

// 0 removes the limit.
void limit_time(long seconds) {
  const itimerval timer = {.it_interval = {0, 0}, .it_value = {seconds, 0}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

// Returns whether the folder could be opened.
bool try_folder(const Folder& folder, Random& random) {
  limit_time(most_seconds);
  bool opened = false;
  try {
    const std::optional<Compute> compute =
        random.one_in(4) ? std::optional(Compute::int8) : std::nullopt;
    const auto pipeline = load_pipeline(folder.path, {}, {.compute = compute});
    opened = true;
    use(*pipeline, random);
  } catch (const Error& error) {
    if (!is_valid_utf8(error.what())) std::abort();
    if (error.code() == ErrorCode::internal) {
      std::fprintf(stderr, "internal: %s\n", error.what());
      std::abort();
    }
  }
  limit_time(0);
  return opened;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string limit = argc > 1 ? argv[1] : "";
  const long amount = std::atol(limit.c_str());
  if (amount <= 0) {
    std::fprintf(stderr, "usage: %s COUNT|SECONDSs [SEED [FOLDER...]]\n", argv[0]);
    return 2;
  }
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  std::vector<fs::path> sources;
  for (int i = 3; i < argc; ++i) sources.emplace_back(argv[i]);
  if (sources.empty()) {
    std::set<fs::path> sorted;  // folders are listed in any order
    for (const auto& entry :
         fs::directory_iterator(GLASSFORMER_SOURCE_DIR "/tests/fixtures/checkpoints")) {
      if (entry.is_directory() && fs::exists(entry.path() / "config.json")) sorted.insert(entry);
    }
    sources.assign(sorted.begin(), sorted.end());
  }
  const fs::path scratch =
      fs::temp_directory_path() / ("glassformer-fuzz-" + std::to_string(getpid()));
  std::vector<Folder> folders;
  for (const fs::path& source : sources) folders.push_back(copy_of(source, scratch));
  std::fprintf(stderr, "seed %llu, folders in %s\n", static_cast<unsigned long long>(seed),
               scratch.c_str());
  std::signal(SIGPROF, too_long);
  std::signal(SIGABRT, aborted);
  __sanitizer_set_death_callback(say_current);

  Random random(seed);
  for (const Folder& folder : folders) {
    current = folder.name;
    if (!try_folder(folder, random)) {
      std::fprintf(stderr, "%s: cannot be opened unchanged\n", folder.name.c_str());
      return 1;
    }
  }
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(amount);
  const bool timed = limit.ends_with('s');
  long tried = 0, opened = 0;
  for (; timed ? Clock::now() < end : tried < amount; ++tried) {
    const Folder& folder = random.of(folders);
    std::set<std::string> touched;
    current = std::to_string(tried) + " " + folder.name;
    for (std::size_t i = random.one_in(4) ? 2 : 1; i > 0; --i) {
      auto file = folder.files.begin();
      std::advance(file, static_cast<std::ptrdiff_t>(random.below(folder.files.size())));
      if (!touched.insert(file->first).second) continue;
      current += " " + file->first;
      if (random.one_in(50)) {
        fs::remove(folder.path / file->first);
      } else {
        write_file(folder.path / file->first, mutated(file->first, file->second, random));
      }
    }
    opened += try_folder(folder, random);
    for (const std::string& name : touched) {
      write_file(folder.path / name, folder.files.at(name));
    }
  }
  fs::remove_all(scratch);
  std::printf("%zu folders, %ld mutations, of which %ld could be opened\n", folders.size(), tried,
              opened);
}
