#include <fcntl.h>

#include <cerrno>
#include <csignal>
#include <iostream>
#include <new>
#include <system_error>

#include "base/error.hpp"
#include "base/spelling.hpp"
#include "base/strings/printable.hpp"
#include "cli/command_line.hpp"

namespace {

using namespace glassformer;

// Replaces standard streams that the shell has closed with streams on which every call fails.
// Otherwise, the next opened file would get the stream's descriptor.
void replace_closed_streams() {
  for (int stream = 0; stream <= 2; ++stream) {
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace

int main(int argc, char** argv) {
  set_spelling(Spelling::flag);
  replace_closed_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a file over the limit is an error with its path
  std::ios::sync_with_stdio(false);
  // Commands flush their output before they wait for input. Reading a line or reporting an error
  // must not flush it implicitly, because that could fail.
  std::cin.tie(nullptr);
  std::cerr.tie(nullptr);
  std::cin.exceptions(std::ios::badbit);
  std::cout.exceptions(std::ios::badbit);
  try {
    const Exit exit = run_command(argc, argv, GLASSFORMER_VERSION);
    std::cout.flush();
    return static_cast<int>(exit);
  } catch (const Error& error) {
    std::cerr << "glassformer: " << to_string(error.code()) << ": " << error.what() << '\n';
  } catch (const std::ios_base::failure&) {
    const std::string reason = std::generic_category().message(errno);
    std::cerr << "glassformer: "
              << (std::cout.bad() ? "standard output: cannot be written: "
                                  : "standard input: cannot be read: ")
              << reason << '\n';
  } catch (const std::bad_alloc&) {
    std::cerr << "glassformer: " << to_string(ErrorCode::internal) << ": out of memory\n";
  } catch (const std::exception& error) {
    std::cerr << "glassformer: " << printable(error.what()) << '\n';
  }
  return static_cast<int>(Exit::bad_input);
}
