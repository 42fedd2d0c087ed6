// Native twins of the dense kernels for bench/dense.ts: dense <kernel> <sizes...> <calls> prints CPU nanoseconds per
// call. Written for the machine at hand (256-bit vectors, fused multiply-add): a bar to measure against, not a
// reference for values.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

typedef float V __attribute__((vector_size(32), aligned(4)));
static const int MR = 6, NR = 16;

static V load(const float* p) { V v; std::memcpy(&v, p, sizeof v); return v; }
static void store(float* p, V v) { std::memcpy(p, &v, sizeof v); }

// A 6 x 16 tile: 12 accumulators, which is what 16 registers allow beside the operands.
static void micro(int k, const float* a, const float* b, float* c, int stride, bool add) {
  V s[MR][2] = {};
  for (int p = 0; p < k; p++, a += MR, b += NR) {
    const V b0 = load(b), b1 = load(b + 8);
#pragma GCC unroll 6
    for (int r = 0; r < MR; r++) { s[r][0] += a[r] * b0; s[r][1] += a[r] * b1; }
  }
#pragma GCC unroll 6
  for (int r = 0; r < MR; r++) {
    float* row = c + (size_t)r * stride;
    store(row, add ? load(row) + s[r][0] : s[r][0]);
    store(row + 8, add ? load(row + 8) + s[r][1] : s[r][1]);
  }
}

// C = A * B, row-major, packed panels, blocked over rows and k.
static void gemm(const float* a, const float* b, float* c, int m, int n, int k, std::vector<float>& pa,
                 std::vector<float>& pb) {
  const int KC = 384, MC = 120;
  float tile[MR * NR];
  for (int k0 = 0; k0 < k; k0 += KC) {
    const int kc = std::min(KC, k - k0);
    for (int j = 0; j < n; j += NR)
      for (int p = 0; p < kc; p++)
        for (int q = 0; q < NR; q++) pb[(size_t)j * kc + p * NR + q] = j + q < n ? b[(size_t)(k0 + p) * n + j + q] : 0;
    for (int i0 = 0; i0 < m; i0 += MC) {
      const int mc = std::min(MC, m - i0);
      for (int i = 0; i < mc; i += MR)
        for (int r = 0; r < MR; r++)
          for (int p = 0; p < kc; p++)
            pa[(size_t)i * kc + p * MR + r] = i + r < mc ? a[(size_t)(i0 + i + r) * k + k0 + p] : 0;
      for (int j = 0; j < n; j += NR)
        for (int i = 0; i < mc; i += MR) {
          float* at = c + (size_t)(i0 + i) * n + j;
          if (i + MR <= mc && j + NR <= n) {
            micro(kc, &pa[(size_t)i * kc], &pb[(size_t)j * kc], at, n, k0 > 0);
            continue;
          }
          micro(kc, &pa[(size_t)i * kc], &pb[(size_t)j * kc], tile, NR, false);
          for (int r = 0; r < std::min(MR, mc - i); r++)
            for (int q = 0; q < std::min(NR, n - j); q++) {
              float& d = at[(size_t)r * n + q];
              d = (k0 > 0 ? d : 0) + tile[r * NR + q];
            }
        }
    }
  }
}

static double cpuNs() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string kernel = argv[1];
  std::vector<long> size;
  for (int i = 2; i < argc - 1; i++) size.push_back(std::atol(argv[i]));
  const long calls = std::atol(argv[argc - 1]);
  const long x = size[0], y = size.size() > 1 ? size[1] : 1, z = size.size() > 2 ? size[2] : 1;
  const size_t count = std::max({(size_t)x * y, (size_t)x * z, (size_t)y * z}) + 64;
  std::vector<float> a(count), b(count), c(count, 1.f), d(count);
  unsigned state = 1;
  for (auto* v : {&a, &b, &d})
    for (float& f : *v) { state = state * 1664525u + 1013904223u; f = (float)(int)state * (1.f / 4294967296.f); }
  std::vector<float> pa, pb;
  std::function<void()> run;
  if (kernel == "gemm") {  // m, n, k
    pa.resize((size_t)(120 + MR) * 384);
    pb.resize((size_t)(y + NR) * 384);
    run = [&] { gemm(a.data(), b.data(), c.data(), x, y, z, pa, pb); };
  } else if (kernel == "rowDot") {  // rows, cols
    run = [&] {
      for (long r = 0; r < x; r++) {
        const float *p = &a[r * y], *q = &b[r * y];
        V s = {};
        long i = 0;
        for (; i + 8 <= y; i += 8) s += load(p + i) * load(q + i);
        float sum = ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
        for (; i < y; i++) sum += p[i] * q[i];
        c[r] = sum;
      }
    };
  } else if (kernel == "scaleRows") {  // rows, cols
    run = [&] {
      for (long r = 0; r < x; r++)
        for (long i = 0; i < y; i++) b[r * y + i] = d[r] * a[r * y + i];
    };
  } else if (kernel == "sigmoid") {  // n
    run = [&] { for (long i = 0; i < x; i++) b[i] = 1.f / (1.f + std::exp(-a[i])); };
  } else if (kernel == "sgd") {  // n
    run = [&] { for (long i = 0; i < x; i++) a[i] -= 0.01f * b[i]; };
  } else if (kernel == "adagrad") {
    run = [&] {
      float *w = a.data(), *n = c.data(), *g = b.data();
#pragma GCC ivdep
      for (long i = 0; i < x; i++) {
        const float h = g[i] + 0.001f * w[i];
        n[i] += h * h;
        w[i] -= 0.01f / std::sqrt(n[i]) * h;
      }
    };
  } else if (kernel == "ftrl") {
    run = [&] {
      float *w = a.data(), *n = c.data(), *g = b.data(), *zero = d.data();
#pragma GCC ivdep
      for (long i = 0; i < x; i++) {
        const float after = n[i] + g[i] * g[i], root = std::sqrt(after);
        const float next = zero[i] + (g[i] - (root - std::sqrt(n[i])) / 0.01f * w[i]);
        n[i] = after;
        zero[i] = next;
        w[i] = std::fabs(next) > 0.1f ? 0.01f * ((next < 0 ? 0.1f : 0.f) - next) / (root + 1.f + 0.001f) : 0.f;
      }
    };
  } else {
    return 2;
  }
  run();
  const double start = cpuNs();
  for (long i = 0; i < calls; i++) run();
  std::printf("%.1f\n", (cpuNs() - start) / calls);
  return c[0] == 12345.f ? 3 : 0;  // The results are used, so no call can be dropped.
}
