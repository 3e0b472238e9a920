/* One MPI_Allreduce as SMPI simulates it: bench.py runs it with smpirun and reads each rank's simulated seconds.
 *
 *     smpirun -no-privatize ... smpi_allreduce FLOATS
 *
 * Only the messages are wanted, so SMPI is spared all else: the ranks share two buffers, which SMPI therefore does not
 * copy between, and the operation does no arithmetic. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* One for all ranks, which without privatization are threads of one process, one of them running at a time. */
static float *from, *to;

static void no_arithmetic(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)in;
  (void)inout;
  (void)count;
  (void)type;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int count = argc == 2 ? atoi(argv[1]) : 0;
  if (count < 1) {
    fprintf(stderr, "usage: smpi_allreduce FLOATS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (!from) from = SMPI_SHARED_MALLOC((size_t)count * sizeof(float));
  if (!to) to = SMPI_SHARED_MALLOC((size_t)count * sizeof(float));
  MPI_Op op;
  MPI_Op_create(no_arithmetic, 1, &op);
  const double start = MPI_Wtime();
  MPI_Allreduce(from, to, count, MPI_FLOAT, op, MPI_COMM_WORLD);
  printf("%.15g\n", MPI_Wtime() - start);
  MPI_Op_free(&op);
  MPI_Finalize();
  return 0;
}
