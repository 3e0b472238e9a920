#include <stdexcept>

#include "sim/answer/ranks.hpp"

namespace stepcast {

std::unique_ptr<Ranks> mpi_ranks() {
  throw std::runtime_error(
      "started as one of several ranks, but built without MPI: install libopenmpi-dev and configure again, or use --shard i/n");
}

}  // namespace stepcast
