#pragma once

#include <iostream>
#include <string>
#include <vector>

namespace glassformer {

/// The next lines of standard input that have arrived, at most so many: a pipe is answered in
/// batches, a person line by line. None at the end.
inline std::vector<std::string> read_lines(std::size_t most) {
  std::vector<std::string> lines;
  std::string line;
  while (std::getline(std::cin, line)) {
    lines.push_back(std::move(line));
    if (lines.size() == most || std::cin.rdbuf()->in_avail() <= 0) break;
  }
  return lines;
}

}  // namespace glassformer
