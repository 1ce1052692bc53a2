#include "cli/training/mpi.hpp"

#include <cstdlib>

#include "base/error.hpp"

#ifdef GLASSFORMER_MPI
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <exception>
#endif

namespace glassformer {
namespace {

// Returns whether a launcher of Open MPI, MPICH or Slurm has started this program. Otherwise, MPI
// is not even initialized.
bool is_launched() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"}) {
    if (std::getenv(name)) return true;
  }
  return false;
}

#ifdef GLASSFORMER_MPI

constexpr std::size_t most_bytes = 1 << 30;  // of a message, whose size is an int

class MpiProcesses final : public Processes {
 public:
  MpiProcesses() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    if (provided < MPI_THREAD_SERIALIZED) {
      throw_error(ErrorCode::unsupported, "MPI: expected MPI_THREAD_SERIALIZED");
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
  }
  MpiProcesses(const MpiProcesses&) = delete;
  MpiProcesses& operator=(const MpiProcesses&) = delete;
  // After an error, the program ends without MPI_Finalize: then mpirun ends the other processes,
  // which wait for this one.
  ~MpiProcesses() override {
    if (std::uncaught_exceptions() == 0) MPI_Finalize();
  }

  std::size_t rank() const override { return static_cast<std::size_t>(rank_); }
  std::size_t count() const override { return static_cast<std::size_t>(count_); }

  // With MPI's default error handler, a call that fails ends all processes with a message.
  void send(std::span<const std::byte> bytes, std::size_t to) override {
    in_parts(bytes, [to](const std::byte* part, int size) {
      MPI_Send(part, size, MPI_BYTE, static_cast<int>(to), 0, MPI_COMM_WORLD);
    });
  }
  void receive(std::span<std::byte> bytes, std::size_t from) override {
    in_parts(bytes, [from](std::byte* part, int size) {
      MPI_Recv(part, size, MPI_BYTE, static_cast<int>(from), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
  }
  void broadcast(std::span<std::byte> bytes, std::size_t from) override {
    in_parts(bytes, [from](std::byte* part, int size) {
      MPI_Bcast(part, size, MPI_BYTE, static_cast<int>(from), MPI_COMM_WORLD);
    });
  }

 private:
  template <class Byte, class Call>
  static void in_parts(std::span<Byte> bytes, const Call& call) {
    for (std::size_t at = 0; at < bytes.size(); at += most_bytes) {
      const std::size_t size = std::min(most_bytes, bytes.size() - at);
      call(bytes.data() + at, static_cast<int>(size));
    }
  }

  int rank_ = 0, count_ = 1;
};

#endif

}  // namespace

std::unique_ptr<Processes> join_processes() {
  if (!is_launched()) return std::make_unique<OneProcess>();
#ifdef GLASSFORMER_MPI
  return std::make_unique<MpiProcesses>();
#else
  throw_error(ErrorCode::unsupported,
              "train: several processes need a program that was built with MPI; install Open MPI "
              "and build again");
#endif
}

}  // namespace glassformer
