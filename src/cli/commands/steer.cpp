#include "tasks/steer.hpp"

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "api/text_input.hpp"
#include "base/strings/decimal.hpp"
#include "cli/files/new_files.hpp"
#include "cli/files/npy_file.hpp"
#include "cli/flags.hpp"
#include "cli/lines.hpp"
#include "families/folder/input_file.hpp"
#include "weights/safetensors.hpp"

namespace glassformer {
namespace {

// Returns the lines of a file, without empty ones.
std::vector<std::string> lines_of(const std::filesystem::path& path) {
  constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;
  std::istringstream file(read_file(path, {path.string(), ErrorCode::invalid_option, most_bytes}));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    without_return(line);
    if (!line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

// Writes the direction from one list of texts to another.
class SteerCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    add_model(app, model_);
    app.add_option("--name", request_.name,
                   "The tensor whose vectors are compared, such as decoder.layers.2.output.")
        ->required();
    app.add_option("--toward", toward_, "A file of texts, one per line, to steer toward.")
        ->required();
    app.add_option("--away", away_, "A file of texts to steer away from.")->required();
    app.add_option("--out", out_,
                   "The file to write: the vector, in safetensors under the tensor's name, or in "
                   "NumPy's format if the path ends in .npy. classify, generate, translate and "
                   "others take it with --steer or --project-out.")
        ->required();
    app.add_option("--rows", rows_,
                   "Which vectors stand for a text: of its last token, or the mean of all.")
        ->check(CLI::IsMember({"last", "mean"}));
    add_compute(app, compute_);
  }

  Exit run() override {
    const auto pipeline = load_pipeline(model_, {}, {.compute = compute_});
    request_.rows = rows_ == "mean" ? SteeredRows::mean : SteeredRows::last;
    const std::vector<std::string> toward = lines_of(toward_), away = lines_of(away_);
    const SteeringVector found =
        steering_vector(*pipeline, request_, Texts(toward).items(), Texts(away).items());
    write(found);
    std::cout << found.name << "\tnorm=" << six_decimals(found.norm)
              << "\tstream_norm=" << six_decimals(found.stream_norm) << "\n";
    return Exit::ok;
  }

 private:
  void write(const SteeringVector& found) const {
    OutputFile file(out_);
    if (out_.extension() == ".npy") {
      const std::string bytes = npy_of(found.vector);
      file.write(0, std::as_bytes(std::span(bytes)));
    } else {
      const NamedTensor vector = {
          found.name, DType::f32, {found.vector.size()}, std::as_bytes(std::span(found.vector))};
      file.write(0, write_safetensors(std::span(&vector, 1)));
    }
    file.close();
  }

  std::filesystem::path model_, toward_, away_, out_;
  SteeringRequest request_;
  std::string rows_ = "last";
  std::optional<Compute> compute_;
};

}  // namespace

std::unique_ptr<Command> make_steer_command() { return std::make_unique<SteerCommand>(); }

}  // namespace glassformer
