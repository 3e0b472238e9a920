#include <cstdlib>
#include <deque>
#include <utility>

#include <mpi.h>

#include "sim/answer/ranks.hpp"

#ifndef OMPI_MAJOR_VERSION
#ifndef MPICH_VERSION
#error "this is neither Open MPI's nor MPICH's mpi.h (SimGrid has one of its own)"
#endif
#endif

namespace stepcast {
namespace {

class MpiRanks final : public Ranks {
 public:
  MpiRanks() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    MPI_Comm here = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &beside_);
    MPI_Comm_free(&here);
    unsigned long long* base = nullptr;
    const MPI_Aint bytes = rank_ == 0 ? sizeof *base : 0;
    MPI_Win_allocate(bytes, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&base), &counter_);
    if (rank_ == 0) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, counter_);
      *base = 0;
      MPI_Win_unlock(0, counter_);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, counter_);
  }
  ~MpiRanks() override {
    MPI_Win_unlock_all(counter_);
    MPI_Win_free(&counter_);
    MPI_Finalize();
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] int beside() const override { return beside_; }

  std::string from_first(std::string text) override {
    unsigned long long bytes = text.size();
    MPI_Bcast(&bytes, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    text.resize(bytes);
    MPI_Bcast(text.data(), static_cast<int>(bytes), MPI_CHAR, 0, MPI_COMM_WORLD);
    return text;
  }

  std::size_t next() override {
    const unsigned long long one = 1;
    unsigned long long taken = 0;
    MPI_Fetch_and_op(&one, &taken, MPI_UNSIGNED_LONG_LONG, 0, 0, MPI_SUM, counter_);
    MPI_Win_flush(0, counter_);
    return taken;
  }

  void send(std::string text) override {
    Outgoing& out = outgoing_.emplace_back();
    out.text = std::move(text);
    MPI_Isend(out.text.data(), static_cast<int>(out.text.size()), MPI_CHAR, 0, 0, MPI_COMM_WORLD, &out.request);
  }  // NOLINT(clang-analyzer-optin.mpi.MPI-Checker): all_sent() waits for it

  bool all_sent() override {
    for (int done = 1; !outgoing_.empty(); outgoing_.pop_front()) {
      MPI_Test(&outgoing_.front().request, &done, MPI_STATUS_IGNORE);
      if (!done) return false;
    }
    return true;
  }

  std::optional<std::string> receive() override {
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there, &status);
    if (!there) return {};
    int bytes = 0;
    MPI_Get_count(&status, MPI_CHAR, &bytes);
    std::string text(bytes, '\0');
    MPI_Recv(text.data(), bytes, MPI_CHAR, status.MPI_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return text;
  }

  [[noreturn]] void abort() override {
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
  }

 private:
  struct Outgoing {
    std::string text;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  int rank_ = 0, size_ = 1, beside_ = 1;
  MPI_Win counter_ = MPI_WIN_NULL;
  std::deque<Outgoing> outgoing_;  ///< a deque, because a text may not move while it is sent
};

}  // namespace

std::unique_ptr<Ranks> mpi_ranks() { return std::make_unique<MpiRanks>(); }

}  // namespace stepcast
