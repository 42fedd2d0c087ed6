// Matrix products of the BLAS this machine has, for bench/dense.ts: blas gemm <m> <n> <k> <n|a|b> <calls> prints CPU
// nanoseconds per call. The letter says which operand lies transposed. One thread: run with OPENBLAS_NUM_THREADS=1.
#include <cblas.h>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

static double cpuNs() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  const int m = std::atoi(argv[2]), n = std::atoi(argv[3]), k = std::atoi(argv[4]);
  const bool ta = argv[5][0] == 'a', tb = argv[5][0] == 'b';
  const long calls = std::atol(argv[6]);
  std::vector<float> a((size_t)m * k), b((size_t)k * n), c((size_t)m * n);
  unsigned state = 1;
  for (auto* v : {&a, &b})
    for (float& f : *v) { state = state * 1664525u + 1013904223u; f = (float)(int)state * (1.f / 4294967296.f); }
  const auto run = [&] {
    cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, m, n, k, 1.f, a.data(),
                ta ? m : k, b.data(), tb ? k : n, 0.f, c.data(), n);
  };
  run();
  const double start = cpuNs();
  for (long i = 0; i < calls; i++) run();
  std::printf("%.1f\n", (cpuNs() - start) / calls);
  return c[0] == 12345.f ? 3 : 0;  // The results are used, so no call can be dropped.
}
