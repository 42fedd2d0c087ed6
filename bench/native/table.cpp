// Native twin of the embedding table, for bench/table.ts: open addressing over buckets of one cache line, rows side by
// side, chunks of ids with software prefetch, AVX2. Pages are those the system gives by default, as for WebAssembly.
//
// Usage: table <dim> <adagrad|ftrl|adam> <rows> <ids of all rows> <bag> <batches...>: then a command per line on stdin,
// `pool <batches>` or `update <batches>`, with the number of a file of batches. Answers per line: nanoseconds of CPU
// time per id and a checksum. A file of batches is: u32 count, u32 sizes[count], padding to 8 bytes, i64 ids.
#include <immintrin.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

static double cpuNs() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

template <class T>
static T* pages(size_t count) {
  void* at = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) exit(3);
  return (T*)at;
}

static std::vector<char> readAll(const char* path) {
  FILE* f = fopen(path, "rb");
  if (!f) exit(3);
  fseek(f, 0, SEEK_END);
  std::vector<char> data(ftell(f));
  rewind(f);
  if (fread(data.data(), 1, data.size(), f) != data.size()) exit(3);
  fclose(f);
  return data;
}

struct Batches {
  std::vector<std::vector<int64_t>> ids;
  size_t total = 0;
  explicit Batches(const char* path) {
    const auto data = readAll(path);
    const uint32_t* head = (const uint32_t*)data.data();
    const char* at = data.data() + (4 * (1 + head[0]) + 7) / 8 * 8;
    for (uint32_t b = 0; b < head[0]; b++) {
      ids.emplace_back((const int64_t*)at, (const int64_t*)at + head[1 + b]);
      at += 8 * (size_t)head[1 + b];
      total += head[1 + b];
    }
  }
};

static inline uint64_t mix64(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

/** Row numbers begin at 1, so that memory fresh from the system is an empty index. */
struct alignas(64) Bucket {
  int64_t ids[4];
  uint32_t rows[4];
  uint32_t times[4];
};

enum class Optimizer { adagrad, ftrl, adam };
static const float RATE = 0.05f, BETA = 1.0f, L1 = 0.001f, L2 = 0.01f, INITIAL = 0.1f;
static const float BETA1 = 0.9f, BETA2 = 0.999f, EPSILON = 1e-8f;
static const size_t CHUNK = 256;

/**
 * Twin of one table. D weights and then the optimizer's state per row: the sum of squares, for FTRL the zeros behind
 * it, for Adam two moments and the powers of the betas. Rows fill whole cache lines.
 */
template <int D, Optimizer O>
struct Table {
  static constexpr size_t ROW = O == Optimizer::adagrad ? 2 * D : O == Optimizer::ftrl ? 3 * D : 3 * D + 16;
  Bucket* index;
  uint64_t mask;
  float* rows;
  uint32_t count = 0;

  explicit Table(size_t rowsMax) {
    size_t buckets = 1;
    while (buckets * 3 < rowsMax) buckets *= 2;
    mask = buckets - 1;
    index = pages<Bucket>(buckets);
    rows = pages<float>((rowsMax + 1) * ROW);
  }

  static inline int match(const Bucket& bucket, __m256i id) {
    const __m256i equal = _mm256_cmpeq_epi64(_mm256_load_si256((const __m256i*)bucket.ids), id);
    return _mm256_movemask_pd(_mm256_castsi256_pd(equal));
  }

  /** The bucket and place of an id that is there or, with `insert`, gets there. Null when it is absent. */
  inline uint32_t* find(int64_t id, bool insert = false) {
    const __m256i key = _mm256_set1_epi64x(id);
    for (uint64_t b = mix64(id) & mask;; b = (b + 1) & mask) {
      Bucket& bucket = index[b];
      int hits = match(bucket, key);
      if (__builtin_expect(hits != 0, 1)) {
        uint32_t* row = bucket.rows + __builtin_ctz(hits);
        if (__builtin_expect(*row != 0, 1)) return row;
      }
      for (int i = 0; i < 4; i++) {
        if (bucket.rows[i] != 0) continue;
        if (!insert) return nullptr;
        bucket.ids[i] = id;
        bucket.rows[i] = ++count;
        initialize(rows + (size_t)count * ROW, id);
        return bucket.rows + i;
      }
    }
  }

  /** The same first values as the table's: uniform in [-0.05, 0.05), from the id and the column. */
  static void initialize(float* row, int64_t id) {
    const uint64_t base = mix64((uint64_t)id);
    for (int c = 0; c < D; c++) {
      const uint64_t bits = mix64(base + (uint64_t)c * 0xD1B54A32D192ED03ULL) >> 40;
      row[c] = (float)(uint32_t)bits * 5.9604644775390625e-8f * 0.1f - 0.05f;
      if (O != Optimizer::adam) row[D + c] = INITIAL;
    }
    if (O != Optimizer::adam) return;
    row[3 * D] = BETA1;
    row[3 * D + 1] = BETA2;
  }

  inline void prefetchBuckets(const int64_t* ids, size_t n) {
    for (size_t i = 0; i < n; i++) _mm_prefetch((const char*)&index[mix64(ids[i]) & mask], _MM_HINT_T0);
  }

  void pool(const int64_t* ids, size_t n, size_t bag, float* out) {
    const float* found[CHUNK];
    const size_t chunk = std::max(bag, CHUNK / bag * bag);
    for (size_t s = 0; s < n; s += chunk) {
      const size_t m = std::min(chunk, n - s);
      prefetchBuckets(ids + s, m);
      for (size_t i = 0; i < m; i++) {
        const uint32_t* at = find(ids[s + i]);
        // Row 0 is zeros.
        const float* row = rows + (at ? (size_t)*at : 0) * ROW;
        found[i] = row;
        for (int c = 0; c < D; c += 16) _mm_prefetch((const char*)(row + c), _MM_HINT_T0);
      }
      for (size_t i = 0; i < m; i += bag, out += D) {
        const size_t end = std::min(i + bag, m);
        for (int c = 0; c < D; c += 32) {
          constexpr int V = D < 32 ? D / 8 : 4;
          __m256 sums[V];
          for (int v = 0; v < V; v++) sums[v] = _mm256_setzero_ps();
          for (size_t j = i; j < end; j++)
            for (int v = 0; v < V; v++) sums[v] = _mm256_add_ps(sums[v], _mm256_load_ps(found[j] + c + v * 8));
          for (int v = 0; v < V; v++) _mm256_storeu_ps(out + c + v * 8, sums[v]);
        }
      }
    }
  }

  /** m += (g - m) * (1 - beta1); v += (g * g - v) * (1 - beta2); w -= rate * m / (sqrt(v) + epsilon). */
  static inline void stepAdam(float* row, const float* gradient) {
    const float power1 = row[3 * D], power2 = row[3 * D + 1];
    const __m256 rate = _mm256_set1_ps(RATE * std::sqrt(1 - power2) / (1 - power1));
    const __m256 rest1 = _mm256_set1_ps(1 - BETA1), rest2 = _mm256_set1_ps(1 - BETA2);
    const __m256 epsilon = _mm256_set1_ps(EPSILON);
    for (int c = 0; c < D; c += 8) {
      const __m256 g = _mm256_loadu_ps(gradient + c);
      const __m256 m = _mm256_load_ps(row + D + c), v = _mm256_load_ps(row + 2 * D + c);
      const __m256 first = _mm256_fmadd_ps(_mm256_sub_ps(g, m), rest1, m);
      const __m256 second = _mm256_fmadd_ps(_mm256_fmsub_ps(g, g, v), rest2, v);
      _mm256_store_ps(row + D + c, first);
      _mm256_store_ps(row + 2 * D + c, second);
      const __m256 under = _mm256_add_ps(_mm256_sqrt_ps(second), epsilon);
      const __m256 step = _mm256_div_ps(_mm256_mul_ps(first, rate), under);
      _mm256_store_ps(row + c, _mm256_sub_ps(_mm256_load_ps(row + c), step));
    }
    row[3 * D] = power1 * BETA1;
    row[3 * D + 1] = power2 * BETA2;
  }

  static inline void step(float* row, const float* gradient) {
    if (O == Optimizer::adam) return stepAdam(row, gradient);
    const __m256 rate = _mm256_set1_ps(RATE);
    for (int c = 0; c < D; c += 8) {
      const __m256 g = _mm256_loadu_ps(gradient + c);
      const __m256 w = _mm256_load_ps(row + c);
      const __m256 before = _mm256_load_ps(row + D + c);
      const __m256 norm = _mm256_fmadd_ps(g, g, before);
      _mm256_store_ps(row + D + c, norm);
      const __m256 root = _mm256_sqrt_ps(norm);
      if (O == Optimizer::adagrad) {
        _mm256_store_ps(row + c, _mm256_fnmadd_ps(_mm256_div_ps(rate, root), g, w));
        continue;
      }
      const __m256 sigma = _mm256_div_ps(_mm256_sub_ps(root, _mm256_sqrt_ps(before)), rate);
      const __m256 z = _mm256_add_ps(_mm256_load_ps(row + 2 * D + c), _mm256_fnmadd_ps(sigma, w, g));
      _mm256_store_ps(row + 2 * D + c, z);
      const __m256 l1 = _mm256_set1_ps(L1), sign = _mm256_set1_ps(-0.0f);
      // Upstream pushes by l1 where z is negative and by nothing elsewhere.
      const __m256 push = _mm256_and_ps(_mm256_castsi256_ps(_mm256_srai_epi32(_mm256_castps_si256(z), 31)), l1);
      const __m256 under = _mm256_add_ps(root, _mm256_set1_ps(BETA + L2 * RATE));
      const __m256 next = _mm256_div_ps(_mm256_mul_ps(rate, _mm256_sub_ps(push, z)), under);
      _mm256_store_ps(row + c, _mm256_and_ps(next, _mm256_cmp_ps(_mm256_andnot_ps(sign, z), l1, _CMP_GT_OQ)));
    }
  }

  void update(const int64_t* ids, size_t n, const float* gradients, uint32_t time) {
    float* found[CHUNK];
    for (size_t s = 0; s < n; s += CHUNK) {
      const size_t m = std::min(CHUNK, n - s);
      prefetchBuckets(ids + s, m);
      for (size_t i = 0; i < m; i++) {
        uint32_t* at = find(ids[s + i], true);
        // Times lie 16 bytes behind the rows of a bucket.
        at[4] = time;
        float* row = rows + (size_t)*at * ROW;
        found[i] = row;
        for (size_t c = 0; c < ROW; c += 16) _mm_prefetch((const char*)(row + c), _MM_HINT_T0);
      }
      for (size_t i = 0; i < m; i++) step(found[i], gradients + (s + i) * D);
    }
  }
};

template <int D, Optimizer O>
static int serve(size_t rowsMax, const char* idFile, size_t bag, const std::vector<Batches>& batches) {
  Table<D, O> table(rowsMax);
  {
    const auto data = readAll(idFile);
    const int64_t* ids = (const int64_t*)data.data();
    for (size_t i = 0; i < data.size() / 8; i++) table.find(ids[i], true);
  }
  size_t largest = 0;
  for (const auto& b : batches)
    for (const auto& ids : b.ids) largest = std::max(largest, ids.size());
  float* out = pages<float>(largest * D);
  float* gradients = pages<float>(largest * D);
  memset(out, 0, largest * D * 4);
  for (size_t i = 0; i < largest * D; i++) gradients[i] = ((int)(i % 201) - 100) * 1e-4f;
  printf("ready %u\n", table.count);
  fflush(stdout);
  char what[16];
  size_t which;
  uint32_t time = 0;
  while (scanf("%15s %zu", what, &which) == 2) {
    const Batches& set = batches.at(which);
    const bool pool = std::string(what) == "pool";
    const double start = cpuNs();
    for (const auto& ids : set.ids) {
      if (pool) table.pool(ids.data(), ids.size(), bag, out);
      else table.update(ids.data(), ids.size(), gradients, ++time);
    }
    const double ns = (cpuNs() - start) / set.total;
    double sum = 0;
    const size_t lastFloats = set.ids.back().size() / bag * D;
    if (pool) for (size_t i = 0; i < lastFloats; i++) sum += (double)out[i] * out[i];
    printf("%.4f %.9g\n", ns, sum);
    fflush(stdout);
  }
  return 0;
}

template <Optimizer O>
static int serveDim(int dim, size_t rows, const char* idFile, size_t bag, const std::vector<Batches>& batches) {
  if (dim == 16) return serve<16, O>(rows, idFile, bag, batches);
  if (dim == 64) return serve<64, O>(rows, idFile, bag, batches);
  return 2;
}

int main(int argc, char** argv) {
  if (argc < 7) return 2;
  const int dim = atoi(argv[1]);
  const std::string optimizer = argv[2];
  const size_t rows = atol(argv[3]), bag = atol(argv[5]);
  std::vector<Batches> batches;
  for (int i = 6; i < argc; i++) batches.emplace_back(argv[i]);
  if (optimizer == "adagrad") return serveDim<Optimizer::adagrad>(dim, rows, argv[4], bag, batches);
  if (optimizer == "ftrl") return serveDim<Optimizer::ftrl>(dim, rows, argv[4], bag, batches);
  if (optimizer == "adam") return serveDim<Optimizer::adam>(dim, rows, argv[4], bag, batches);
  return 2;
}
