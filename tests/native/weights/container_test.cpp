#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "families/family.hpp"
#include "support/io_fixture.hpp"
#include "weights/loader.hpp"
#include "weights/tensor_container.hpp"

namespace glassformer {

extern const Family bergamot;

namespace {

using test::bytes_of;
using test::check_error;

// Returns a file with Wemb [2, 3] = -2 … 3 and encoder_l1_self_Wq [3, 2] = 0, 2, … 10, both
// integers times 1 / 600, and encoder_l1_self_bq [1, 3] = 0, 1, 2.
std::string small_file() {
  std::ifstream file(GLASSFORMER_SOURCE_DIR "/tests/fuzz/corpus/tensor_container/small.bin",
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t header_size(const std::string& file) {
  std::size_t known = 0;
  for (std::uint64_t wanted;
       wanted = TensorContainer::header_size(bytes_of(file.substr(0, known))), wanted > known;) {
    known = static_cast<std::size_t>(wanted);
  }
  return known;
}

TensorContainer parse(const std::string& file) {
  const std::size_t size = header_size(file);
  return TensorContainer::parse(bytes_of(file.substr(0, size)), file.size() - size);
}

template <typename Number>
void put(std::string& file, std::size_t at, Number number) {
  std::memcpy(file.data() + at, &number, sizeof number);
}

TEST_CASE("a container's integer matrices have one row per output, and one multiplier", "[io]") {
  const std::string file = small_file();
  const TensorContainer container = parse(file);
  std::vector<std::string> names;
  std::vector<NamedParameter> parameters;
  std::vector<std::vector<float>> values;
  values.reserve(3);
  for (const TensorInfo& tensor : container.header.tensors()) {
    names.push_back(tensor.name);
    if (!holds_weights(tensor.dtype)) continue;
    std::vector<float>& own = values.emplace_back();
    parameters.push_back({.name = tensor.name,
                          .shape = tensor.shape,
                          .set = [&own](std::span<const float> some, std::size_t) {
                            own.insert(own.end(), some.begin(), some.end());
                          }});
  }
  CHECK(names == std::vector<std::string>{"Wemb", "Wemb_scale", "encoder_l1_self_Wq",
                                          "encoder_l1_self_Wq_scale", "encoder_l1_self_bq",
                                          "special:model.yml"});
  CHECK(parameters[0].shape == std::vector<std::size_t>{2, 3});
  CHECK(parameters[1].shape == std::vector<std::size_t>{2, 3});  // [3, 2] in the file
  CHECK(parameters[2].shape == std::vector<std::size_t>{1, 3});

  WeightsLoader loader(std::vector{container.header}, parameters,
                       [](const std::string& name) { return name.starts_with("special:"); });
  const std::string data = file.substr(header_size(file));
  for (std::size_t i = 0; i < loader.size(); ++i) {
    const TensorInfo& tensor = loader.tensor(i);
    if (loader.ignores(i)) continue;
    loader.load(i, bytes_of(data).subspan(tensor.begin, tensor.end - tensor.begin));
  }
  loader.finish();
  for (std::size_t i = 0; i < 6; ++i) {
    const float scale = 1.0f / 600.0f;
    CHECK(values[0][i] == (static_cast<float>(i) - 2.0f) * scale);
    CHECK(values[1][i] == 2.0f * static_cast<float>(i) * scale);
  }
  CHECK(values[2] == std::vector<float>{0, 1, 2});
}

TEST_CASE("a damaged container is refused by name", "[io]") {
  const std::string good = small_file();
  const auto refused = [&](const std::string& file, std::string_view message,
                           ErrorCode code = ErrorCode::invalid_weights) {
    check_error(code, message, [&] { parse(file); });
  };
  const auto with = [&](std::size_t at, auto number) {
    std::string file = good;
    put(file, at, number);
    return file;
  };
  using U64 = std::uint64_t;
  refused(with(0, U64{2}), "expected version 1, got 2");
  refused(with(8, U64{0}), "expected 1 to 65536 tensors, got 0");
  refused(with(8, ~U64{0}), "expected 1 to 65536 tensors");
  // The first tensor's entry: name size, type, dimensions, data size.
  refused(with(16, U64{1}), "expected a name of 2 to 1024 bytes, got 1");
  refused(with(24, U64{0x4102}), "Wemb: expected type", ErrorCode::unsupported_dtype);
  refused(with(24, U64{0x4804}), "packed for one kind of processor", ErrorCode::unsupported_dtype);
  refused(with(32, U64{9}), "expected at most 8 dimensions, got 9");
  refused(with(40, ~U64{0}), "Wemb: expected at most");
  refused(with(40, U64{255}), "bytes of data, got");
  const std::size_t shapes = good.find("special:model.yml") + 18;
  refused(with(shapes, std::int32_t{-1}), "Wemb: expected dimensions above 0");
  refused(with(shapes, std::int32_t{1 << 30}), "Wemb: expected dimensions above 0 that fit");
  refused(with(good.find("Wemb") + 4, 'x'), "expected a name with one NUL");
  refused(good.substr(0, good.size() - 1), "bytes of data");
  refused(good + "x", "bytes of data");
  std::string nameless = good;
  nameless[good.find("model.yml")] = 'x';
  refused(nameless, "special:model.yml: expected it, got none");
}

TEST_CASE("a container's configuration becomes JSON", "[checkpoints]") {
  CHECK(bergamot.container->config(
            "a: 1\nb: \"\"\nc: 'x y'\n# no\nl:\n  - 3\n  - z\nn: []\no:\n  []\n"
            "p: [1, \"b\"]\nq: 007\nr: 1.5\ns:\n") ==
        R"({"a":1,"b":"","c":"x y","l.0":3,"l.1":"z","p.0":1,"p.1":"b","q":"007","r":"1.5"})");
  CHECK(bergamot.container->config(std::string_view("a: 1\0b: 2", 9)) == R"({"a":1})");
  for (const char* wrong : {"a", ": 1", "[]"}) {
    check_error(ErrorCode::invalid_config, "special:model.yml: expected \"key: value\"",
                [&] { bergamot.container->config(wrong); });
  }
}

}  // namespace
}  // namespace glassformer
