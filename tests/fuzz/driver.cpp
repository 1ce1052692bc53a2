// Runs a fuzzer without libFuzzer: every seed file unchanged, then COUNT mutations of the seeds,
// identical on every run.   DRIVER COUNT FILE_OR_FOLDER...

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Bytes = std::vector<std::uint8_t>;

std::vector<Bytes> read_seeds(int count, char** paths) {
  std::set<std::filesystem::path> files;  // sorted, since folders are listed in any order
  for (int i = 0; i < count; ++i) {
    if (std::filesystem::is_directory(paths[i])) {
      for (const auto& entry : std::filesystem::directory_iterator(paths[i])) files.insert(entry);
    } else {
      files.insert(paths[i]);
    }
  }
  std::vector<Bytes> seeds;
  for (const std::filesystem::path& path : files) {
    std::ifstream file(path, std::ios::binary);
    if (!file) std::printf("cannot read %s\n", path.c_str());
    if (file) seeds.push_back(Bytes{std::istreambuf_iterator<char>(file), {}});
  }
  return seeds;
}

void mutate(Bytes& bytes, const std::vector<Bytes>& seeds, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
  const auto at = [&](std::size_t i) { return bytes.begin() + static_cast<std::ptrdiff_t>(i); };
  const std::size_t place = below(bytes.size());
  switch (bytes.empty() ? 2 : below(6)) {
    case 0:
      bytes[place] ^= static_cast<std::uint8_t>(1u << below(8));
      break;
    case 1: {
      constexpr std::uint8_t interesting[] = {0, 1, 0x7F, 0x80, 0xFF, '0', '9', '"', '{', '}'};
      bytes[place] = interesting[below(std::size(interesting))];
      break;
    }
    case 2:
      bytes.insert(at(place), static_cast<std::uint8_t>(random()));
      break;
    case 3:
      bytes.erase(at(place),
                  at(place + 1 + below(std::min<std::size_t>(bytes.size() - place, 16))));
      break;
    case 4: {  // a section of another seed
      const Bytes& seed = seeds[below(seeds.size())];
      const std::size_t begin = below(seed.size());
      const std::size_t end = begin + below(std::min<std::size_t>(seed.size() - begin, 64));
      bytes.insert(at(place), seed.begin() + static_cast<std::ptrdiff_t>(begin),
                   seed.begin() + static_cast<std::ptrdiff_t>(end));
      break;
    }
    default:
      if (below(8) == 0) bytes.resize(place);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Bytes> seeds = argc > 2 ? read_seeds(argc - 2, argv + 2) : std::vector<Bytes>{};
  if (seeds.empty()) {
    std::printf("usage: %s COUNT FILE_OR_FOLDER...\n", argv[0]);
    return 2;
  }
  for (const Bytes& seed : seeds) LLVMFuzzerTestOneInput(seed.data(), seed.size());
  std::mt19937 random(1);
  const long count = std::atol(argv[1]);
  for (long i = 0; i < count; ++i) {
    Bytes bytes = seeds[random() % seeds.size()];
    for (std::size_t n = 1 + random() % 8; n > 0; --n) mutate(bytes, seeds, random);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::printf("%zu seeds and %ld mutations\n", seeds.size(), count);
}
