// Times a translator of CTranslate2: ctranslate2_bench MODEL float32|int8 THREADS COUNT TOKEN…
// COUNT tokens are written for the source of these tokens. See engine.mjs for what it reads and
// prints.
#include <ctranslate2/translator.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// Prints the times of calls of `work` for some milliseconds, at least one, as a JSON array.
template <class Work>
void print_times(double milliseconds, const Work& work) {
  const auto start = Clock::now();
  std::cout << '[';
  for (int calls = 0; calls < 1 || milliseconds_since(start) < milliseconds; ++calls) {
    const auto begin = Clock::now();
    work();
    std::cout << (calls > 0 ? "," : "") << milliseconds_since(begin);
  }
  std::cout << ']';
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  ctranslate2::ReplicaPoolConfig pool;
  pool.num_threads_per_replica = std::stoul(args.at(2));
  ctranslate2::Translator translator(args.at(0), ctranslate2::Device::CPU,
                                     ctranslate2::str_to_compute_type(args.at(1)), {0}, false,
                                     pool);
  const std::vector<std::vector<std::string>> batch = {{args.begin() + 4, args.end()}};
  const auto translate = [&](std::size_t beams) {
    ctranslate2::TranslationOptions options;
    options.beam_size = beams;
    options.min_decoding_length = options.max_decoding_length = std::stoul(args.at(3));
    return translator.translate_batch(batch, options).at(0).output();
  };

  const auto written = translate(1);
  for (const auto begin = Clock::now(); milliseconds_since(begin) < 1000;) translate(4);
  std::cout << "{\"written\":[";
  for (std::size_t i = 0; i < written.size(); ++i) {
    std::cout << (i > 0 ? "," : "") << written[i].substr(1);  // t17 is token 17
  }
  std::cout << "]}" << std::endl;

  for (std::string line; std::getline(std::cin, line);) {
    std::cout << "{\"greedy\":";
    print_times(std::stod(line), [&] { translate(1); });
    std::cout << ",\"4 beams\":";
    print_times(std::stod(line), [&] { translate(4); });
    std::cout << '}' << std::endl;
  }
}
