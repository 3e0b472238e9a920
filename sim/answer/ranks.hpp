// The processes that share a sweep: this one alone, or the ranks of an MPI job.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace stepcast {

/// Rank 0 reads the cache and writes the output, and also works like the others. Nobody hands out work: each rank takes
/// the next number from a shared counter.
class Ranks {
 public:
  virtual ~Ranks() = default;
  Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// Ranks on this machine, including this one.
  [[nodiscard]] virtual int beside() const = 0;
  /// Returns rank 0's text on every rank.
  virtual std::string from_first(std::string text) = 0;
  /// Returns 0, 1, 2, ...: each number once, to one rank.
  virtual std::size_t next() = 0;
  /// Sends a text to rank 0, without waiting until it arrives.
  virtual void send(std::string text) = 0;
  /// Whether all sent texts have left.
  virtual bool all_sent() = 0;
  /// On rank 0: a text that has arrived.
  virtual std::optional<std::string> receive() = 0;
  /// Ends all ranks at once.
  [[noreturn]] virtual void abort() = 0;
};

std::unique_ptr<Ranks> one_process();

/// The ranks that mpirun or srun started, if stepcast was built with MPI; else this process alone.
/// @throws std::runtime_error for several ranks without MPI built in, because each would do all the work
std::unique_ptr<Ranks> mpi_ranks();

/// Whether mpirun or srun started several of this process.
bool is_one_of_several();

}  // namespace stepcast
