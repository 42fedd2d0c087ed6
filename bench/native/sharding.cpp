// Native twin of sharding ids over tables and servers, for bench/sharding.ts.
//
// Usage: sharding <file> <features> <ids per feature> <servers> <dim> <unique 0|1> <budget ms>; prints nanoseconds of
// CPU time per id and a checksum of the offsets. All features are in one table; the file holds the ids of several
// batches.
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static double cpuNs() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

/** Distinct ids of one (feature, server): open addressing, linear probing, a generation in place of clearing. */
struct DistinctTable {
  struct Cell {
    uint64_t key;
    uint32_t generation;
    uint32_t index;
  };
  std::vector<Cell> cells = std::vector<Cell>(1024, Cell{0, 0, 0});
  uint32_t generation = 1, size = 0;

  static uint32_t hash(uint64_t key) {
    const uint32_t m = 0xc6a4a793;
    uint32_t h = 8 * m;
    for (uint32_t w : {uint32_t(key), uint32_t(key >> 32)}) {
      h += w;
      h *= m;
      h ^= h >> 16;
    }
    return h;
  }
  void clear() {
    generation++;
    size = 0;
  }
  /** Index of the key; `next` when it is new. */
  uint32_t insert(uint64_t key, uint32_t next) {
    if (size * 4 >= cells.size() * 3) grow();
    const uint32_t mask = cells.size() - 1;
    uint32_t at = hash(key) & mask;
    while (cells[at].generation == generation && cells[at].key != key) at = (at + 1) & mask;
    if (cells[at].generation == generation) return cells[at].index;
    cells[at] = Cell{key, generation, next};
    size++;
    return next;
  }
  void grow() {
    std::vector<Cell> old(cells.size() * 2, Cell{0, 0, 0});
    old.swap(cells);
    const uint32_t mask = cells.size() - 1;
    for (const Cell& cell : old) {
      if (cell.generation != generation) continue;
      uint32_t at = hash(cell.key) & mask;
      while (cells[at].generation == generation) at = (at + 1) & mask;
      cells[at] = cell;
    }
  }
};

int main(int argc, char** argv) {
  if (argc != 8) return 2;
  const uint32_t features = atoi(argv[2]), n = atoi(argv[3]), servers = atoi(argv[4]), dim = atoi(argv[5]);
  const bool unique = atoi(argv[6]) != 0;
  const double budgetMs = atof(argv[7]);
  FILE* f = fopen(argv[1], "rb");
  if (!f) return 3;
  fseek(f, 0, SEEK_END);
  std::vector<uint64_t> ids(ftell(f) / 8);
  rewind(f);
  if (fread(ids.data(), 8, ids.size(), f) != ids.size()) return 3;
  fclose(f);
  const size_t batch = size_t(features) * n, batches = ids.size() / batch;

  std::vector<std::vector<uint64_t>> own(size_t(features) * servers), lists(servers);
  std::vector<uint64_t> offsets(batch);
  std::vector<uint64_t> base(servers);
  DistinctTable table;
  auto run = [&](const uint64_t* in) {
    for (uint32_t k = 0; k < features; k++) {
      table.clear();
      for (uint32_t s = 0; s < servers; s++) own[k * servers + s].clear();
      for (uint32_t i = 0; i < n; i++) {
        const uint64_t id = in[size_t(k) * n + i];
        const uint32_t server = id % servers;
        auto& list = own[k * servers + server];
        const uint32_t next = list.size();
        const uint32_t index = unique ? table.insert(id, next) : next;
        if (index == next) list.push_back(id);
        offsets[size_t(k) * n + i] = (uint64_t(server) << 32) | index;
      }
    }
    for (uint32_t s = 0; s < servers; s++) lists[s].clear(), base[s] = 0;
    for (uint32_t k = 0; k < features; k++) {
      for (uint32_t i = 0; i < n; i++) {
        uint64_t& word = offsets[size_t(k) * n + i];
        const uint32_t server = word >> 32;
        word = (uint64_t(server) << 32) | (base[server] + (word & 0xffffffff) * dim);
      }
      for (uint32_t s = 0; s < servers; s++) {
        auto& list = own[k * servers + s];
        lists[s].insert(lists[s].end(), list.begin(), list.end());
        base[s] += uint64_t(list.size()) * dim;
      }
    }
    asm volatile("" ::"r"(offsets.data()) : "memory");
  };
  for (size_t b = 0; b < batches; b++) run(&ids[b * batch]);
  run(&ids[0]);
  uint64_t sum = 0;
  for (uint64_t word : offsets) sum = sum * 31 + word;
  size_t runs = 0;
  const double start = cpuNs();
  double now = start;
  do {
    run(&ids[runs % batches * batch]);
    runs++;
    now = cpuNs();
  } while (now - start < budgetMs * 1e6);
  printf("%.4f %llu\n", (now - start) / runs / batch, (unsigned long long)sum);
  return 0;
}
