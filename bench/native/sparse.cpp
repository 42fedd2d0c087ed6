// Native twins of the sparse kernels, for bench/sparse.ts. Usage: sparse <case> <args...>; prints nanoseconds of CPU
// time per item. Input ids come from a file, so that both sides work on the same ones.
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

static double cpuNs() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

static void keep(const void* p) { asm volatile("" ::"r"(p) : "memory"); }

/** Runs `body` once to warm up, then until `budgetMs` have passed; prints the time of one item. */
template <class Body>
static int report(double budgetMs, double items, Body body) {
  body();
  int runs = 0;
  const double start = cpuNs();
  double now = start;
  do {
    body();
    runs++;
    now = cpuNs();
  } while (now - start < budgetMs * 1e6);
  printf("%.4f\n", (now - start) / runs / items);
  return 0;
}

/** Memory at a cache line, as the kernels' arena gives it: off the line every 64-byte piece would cost two. */
template <class T>
struct LineAllocator {
  typedef T value_type;
  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) {}
  T* allocate(size_t n) { return (T*)aligned_alloc(64, (n * sizeof(T) + 63) / 64 * 64); }
  void deallocate(T* p, size_t) { free(p); }
  template <class U>
  bool operator==(const LineAllocator<U>&) const { return true; }
  template <class U>
  bool operator!=(const LineAllocator<U>&) const { return false; }
};
template <class T>
using Block = std::vector<T, LineAllocator<T>>;

template <class T>
static Block<T> readAll(const char* path) {
  FILE* f = fopen(path, "rb");
  if (!f) exit(3);
  fseek(f, 0, SEEK_END);
  Block<T> data(ftell(f) / sizeof(T));
  rewind(f);
  if (fread(data.data(), sizeof(T), data.size(), f) != data.size()) exit(3);
  fclose(f);
  return data;
}

static uint64_t mix64(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

/** Unique by sorting (id, position) pairs. Gives ids in sorted order, which is less work than first-seen order. */
struct SortUnique {
  Block<std::pair<int64_t, uint32_t>> pairs;
  Block<int64_t> uids;
  Block<uint32_t> inverse;
  explicit SortUnique(size_t n) : pairs(n), uids(n), inverse(n) {}
  void run(const int64_t* ids, size_t n) {
    for (size_t i = 0; i < n; i++) pairs[i] = {ids[i], (uint32_t)i};
    std::sort(pairs.begin(), pairs.end());
    uint32_t count = 0;
    for (size_t i = 0; i < n; i++) {
      if (i == 0 || pairs[i].first != pairs[i - 1].first) uids[count++] = pairs[i].first;
      inverse[pairs[i].second] = count - 1;
    }
  }
};

/** The same scratch table as the kernel. */
struct HashUnique {
  struct Cell {
    int64_t key;
    uint32_t generation, index;
  };
  size_t cells = 64;
  Block<Cell> table;
  Block<int64_t> uids;
  Block<uint32_t> inverse;
  uint32_t generation = 0;
  explicit HashUnique(size_t n) : uids(n), inverse(n) {
    while (cells < 2 * n) cells *= 2;
    table.resize(cells);
  }
  void run(const int64_t* ids, size_t n) {
    generation++;
    uint32_t count = 0;
    for (size_t i = 0; i < n; i++) {
      size_t at = mix64(ids[i]) & (cells - 1);
      while (table[at].generation == generation && table[at].key != ids[i]) at = (at + 1) & (cells - 1);
      if (table[at].generation != generation) {
        table[at] = {ids[i], generation, count};
        uids[count++] = ids[i];
      }
      inverse[i] = table[at].index;
    }
  }
};

/** The file holds batches of `n` ids, taken in turn: one met again at once would train the branch predictor. */
template <class Unique>
static int unique(const char* file, size_t n, double budgetMs) {
  const auto ids = readAll<int64_t>(file);
  Unique work(n);
  size_t at = 0;
  return report(budgetMs, n, [&] {
    work.run(ids.data() + at, n);
    at = at + 2 * n <= ids.size() ? at + n : 0;
    keep(work.uids.data());
    keep(work.inverse.data());
  });
}

typedef float Eight __attribute__((vector_size(32), aligned(4)));

template <int D>
static void poolRows(const std::vector<const float*>& rows, const Block<uint32_t>& inverse, int bag, float* out) {
  const size_t bags = inverse.size() / bag;
  for (size_t r = 0; r < bags; r++) {
    // Vectors by hand: left to itself the compiler turns a small array of sums into scalars.
    Eight sum[D / 8] = {};
    float tail[D % 8 + 1] = {};
    for (int j = 0; j < bag; j++) {
      const float* row = rows[inverse[r * bag + j]];
      for (int v = 0; v < D / 8; v++) sum[v] += *(const Eight*)(row + v * 8);
      for (int c = 0; c < D % 8; c++) tail[c] += row[D / 8 * 8 + c];
    }
    for (int v = 0; v < D / 8; v++) *(Eight*)(out + r * D + v * 8) = sum[v];
    for (int c = 0; c < D % 8; c++) out[r * D + D / 8 * 8 + c] = tail[c];
  }
}

static int pool(const char* file, int dim, int bag, double budgetMs) {
  const auto inverse = readAll<uint32_t>(file);
  const size_t unique = *std::max_element(inverse.begin(), inverse.end()) + 1;
  Block<float> weights(unique * dim, 0.5f), out(inverse.size() / bag * dim);
  std::vector<const float*> rows(unique);
  for (size_t u = 0; u < unique; u++) rows[u] = weights.data() + u * dim;
  return report(budgetMs, inverse.size(), [&] {
    if (dim == 16) poolRows<16>(rows, inverse, bag, out.data());
    else if (dim == 17) poolRows<17>(rows, inverse, bag, out.data());
    else if (dim == 32) poolRows<32>(rows, inverse, bag, out.data());
    else if (dim == 64) poolRows<64>(rows, inverse, bag, out.data());
    else exit(4);
    keep(out.data());
  });
}

/** One memcpy per piece between a packed block and pieces that lie 64 bytes apart in the order of the file. */
static int copy(const char* file, size_t bytes, bool unpack, double budgetMs) {
  const auto order = readAll<uint32_t>(file);
  const size_t n = order.size(), gap = bytes + 64;
  Block<char> spread(n * gap, 1), packed(n * bytes, 0);
  struct Piece {
    const char* src;
    char* dst;
    size_t bytes;
  };
  std::vector<Piece> pieces(n);
  for (size_t i = 0; i < n; i++) {
    char* far = spread.data() + order[i] * gap;
    char* near = packed.data() + i * bytes;
    pieces[i] = unpack ? Piece{near, far, bytes} : Piece{far, near, bytes};
  }
  return report(budgetMs, n, [&] {
    for (const Piece& p : pieces) memcpy(p.dst, p.src, p.bytes);
    keep(packed.data());
    keep(spread.data());
  });
}

int main(int argc, char** argv) {
  const std::string name = argc > 2 ? argv[1] : "";
  if (name == "unique-sort" && argc > 4) return unique<SortUnique>(argv[2], atol(argv[3]), atof(argv[4]));
  if (name == "unique-hash" && argc > 4) return unique<HashUnique>(argv[2], atol(argv[3]), atof(argv[4]));
  if (name == "pool" && argc > 5) return pool(argv[2], atoi(argv[3]), atoi(argv[4]), atof(argv[5]));
  if (name == "pack" && argc > 4) return copy(argv[2], atol(argv[3]), false, atof(argv[4]));
  if (name == "unpack" && argc > 4) return copy(argv[2], atol(argv[3]), true, atof(argv[4]));
  fprintf(stderr, "unknown case\n");
  return 2;
}
