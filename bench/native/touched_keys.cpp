// Native twin of the touched-key set, for bench/touched-keys.ts: the same hopscotch set with the same stripes, written
// plainly. One key at a time, one-byte spin locks side by side (or `lock spacing` bytes apart), no prefetch.
//
// Usage: touched_keys <capacity> <concurrency> <lock spacing> <key file>...
// A line "<threads> <file index>" on stdin runs one timed round; the answer is "<insert ms> <insert CPU ms> <keys>
// <steal ms>".
#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <vector>

namespace {

constexpr uint32_t kHopRange = 32;
constexpr uint32_t kInsertRange = 4096;

uint32_t nextPow2(uint32_t n) {
  uint32_t power = 1;
  while (power < n) power <<= 1;
  return power;
}

uint32_t hashOf(int64_t key) {
  uint64_t x = static_cast<uint64_t>(key);
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ull;
  x ^= x >> 33;
  return static_cast<uint32_t>(x) | 3u;
}

class SpinLock {
 public:
  bool tryLock() { return !held_.load(std::memory_order_relaxed) && !held_.exchange(1, std::memory_order_acquire); }
  void lock() {
    for (int spin = 0; !tryLock();) {
      if (++spin < 4000) {
        _mm_pause();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(500));
      }
    }
  }
  void unlock() { held_.store(0, std::memory_order_release); }

 private:
  std::atomic<uint8_t> held_{0};
};

struct Slot {
  int64_t key;
  std::atomic<uint32_t> hash;
  uint32_t hop;
};
static_assert(sizeof(Slot) == 16);

class HopscotchSet {
 public:
  HopscotchSet(uint32_t capacity, uint32_t concurrency, uint32_t lockSpacing)
      : capacity_(capacity),
        bucketMask_(nextPow2(static_cast<uint32_t>(capacity * 1.2)) - 1),
        slotCount_(bucketMask_ + 1 + kInsertRange),
        lockCount_(std::min(nextPow2(concurrency), bucketMask_ + 1)),
        lockSpacing_(lockSpacing),
        lockBytes_(new uint8_t[static_cast<size_t>(lockCount_) * lockSpacing]()),
        slots_(new Slot[slotCount_]) {
    wipe();
  }

  int64_t insert(int64_t key) {
    int64_t dropped = 0;
    if (size_.load(std::memory_order_relaxed) > capacity_) dropped = clear();
    const uint32_t hash = hashOf(key);
    const uint32_t bucket = hash & bucketMask_;
    SpinLock& own = lockOf(bucket);
    std::lock_guard<SpinLock> guard(own);
    for (uint32_t hop = slots_[bucket].hop; hop != 0; hop &= hop - 1) {
      if (slots_[bucket + __builtin_ctz(hop)].key == key) return dropped;
    }
    if (overflowCount_.load(std::memory_order_relaxed) != 0 && inOverflow(key)) return dropped;
    place(bucket, key, hash, own);
    size_.fetch_add(1, std::memory_order_relaxed);
    return dropped;
  }

  std::vector<int64_t> steal() {
    std::lock_guard<std::mutex> guard(clearLock_);
    lockAll();
    std::vector<int64_t> keys;
    keys.reserve(size_.load());
    for (uint32_t i = 0; i < slotCount_; i++) {
      if (slots_[i].hash.load(std::memory_order_relaxed) != 0) keys.push_back(slots_[i].key);
    }
    keys.insert(keys.end(), overflow_.begin(), overflow_.end());
    wipe();
    unlockAll();
    return keys;
  }

 private:
  SpinLock& lockOf(uint32_t bucket) {
    return *reinterpret_cast<SpinLock*>(&lockBytes_[static_cast<size_t>(bucket & (lockCount_ - 1)) * lockSpacing_]);
  }

  void place(uint32_t bucket, int64_t key, uint32_t hash, SpinLock& own) {
    uint32_t hole = bucket;
    const uint32_t end = bucket + kInsertRange;
    for (; hole < end; hole++) {
      uint32_t free = 0;
      if (slots_[hole].hash.load(std::memory_order_relaxed) == 0 &&
          slots_[hole].hash.compare_exchange_strong(free, hash)) {
        break;
      }
    }
    if (hole == end) return addOverflow(key);
    while (hole - bucket >= kHopRange) {
      const uint32_t next = moveHole(hole, own);
      if (next == hole) {
        slots_[hole].hash.store(0, std::memory_order_release);
        return addOverflow(key);
      }
      hole = next;
    }
    slots_[hole].key = key;
    slots_[hole].hash.store(hash, std::memory_order_relaxed);
    slots_[bucket].hop |= 1u << (hole - bucket);
  }

  uint32_t moveHole(uint32_t hole, SpinLock& own) {
    for (uint32_t home = hole - kHopRange + 1; home < hole; home++) {
      const uint32_t distance = hole - home;
      if (!movable(slots_[home].hop, distance)) continue;
      SpinLock& other = lockOf(home);
      if (&other != &own && !other.tryLock()) continue;
      const uint32_t hop = slots_[home].hop;
      const bool can = movable(hop, distance);
      const uint32_t from = can ? home + __builtin_ctz(hop) : hole;
      if (can) {
        slots_[hole].key = slots_[from].key;
        slots_[hole].hash.store(slots_[from].hash.load(std::memory_order_relaxed), std::memory_order_relaxed);
        slots_[home].hop = (hop | (1u << distance)) & (hop - 1 | (1u << distance));
      }
      if (&other != &own) other.unlock();
      if (can) return from;
    }
    return hole;
  }

  static bool movable(uint32_t hop, uint32_t distance) {
    return hop != 0 && static_cast<uint32_t>(__builtin_ctz(hop)) < distance;
  }

  bool inOverflow(int64_t key) {
    std::lock_guard<std::mutex> guard(overflowLock_);
    return overflow_.count(key) != 0;
  }

  void addOverflow(int64_t key) {
    std::lock_guard<std::mutex> guard(overflowLock_);
    overflow_.insert(key);
    overflowCount_.store(static_cast<uint32_t>(overflow_.size()), std::memory_order_relaxed);
  }

  int64_t clear() {
    std::lock_guard<std::mutex> guard(clearLock_);
    if (size_.load() <= capacity_) return 0;
    lockAll();
    const int64_t dropped = size_.load();
    wipe();
    unlockAll();
    return dropped;
  }

  void wipe() {
    std::fill_n(reinterpret_cast<uint64_t*>(slots_.get()), static_cast<size_t>(slotCount_) * 2, 0);
    overflow_.clear();
    overflowCount_ = 0;
    size_ = 0;
  }

  void lockAll() {
    for (uint32_t i = 0; i < lockCount_; i++) lockOf(i).lock();
  }
  void unlockAll() {
    for (uint32_t i = 0; i < lockCount_; i++) lockOf(i).unlock();
  }

  const uint32_t capacity_, bucketMask_, slotCount_, lockCount_, lockSpacing_;
  std::unique_ptr<uint8_t[]> lockBytes_;
  std::unique_ptr<Slot[]> slots_;
  alignas(64) std::atomic<uint32_t> size_{0};
  std::atomic<uint32_t> overflowCount_{0};
  alignas(64) std::mutex clearLock_;
  std::mutex overflowLock_;
  std::unordered_set<int64_t> overflow_;
};

double nowMs() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double cpuMs() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

std::vector<int64_t> readKeys(const char* path) {
  FILE* file = fopen(path, "rb");
  if (file == nullptr) exit(1);
  fseek(file, 0, SEEK_END);
  std::vector<int64_t> keys(ftell(file) / 8);
  rewind(file);
  if (fread(keys.data(), 8, keys.size(), file) != keys.size()) exit(1);
  fclose(file);
  return keys;
}

/** First start to last end, as the other systems are timed. */
double insertAll(HopscotchSet& set, const std::vector<int64_t>& keys, int threads) {
  std::atomic<int> ready{0};
  std::vector<double> begin(threads), end(threads);
  std::vector<std::thread> running;
  for (int t = 0; t < threads; t++) {
    running.emplace_back([&, t] {
      ready++;
      while (ready.load() < threads) _mm_pause();
      begin[t] = nowMs();
      const size_t from = keys.size() * t / threads, to = keys.size() * (t + 1) / threads;
      for (size_t i = from; i < to; i++) set.insert(keys[i]);
      end[t] = nowMs();
    });
  }
  for (auto& thread : running) thread.join();
  return *std::max_element(end.begin(), end.end()) - *std::min_element(begin.begin(), begin.end());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  HopscotchSet set(atoi(argv[1]), atoi(argv[2]), atoi(argv[3]));
  std::vector<std::vector<int64_t>> files;
  for (int i = 4; i < argc; i++) files.push_back(readKeys(argv[i]));
  int threads, file;
  while (scanf("%d %d", &threads, &file) == 2) {
    const double cpuStart = cpuMs();
    const double insertMs = insertAll(set, files.at(file), threads);
    const double insertCpuMs = cpuMs() - cpuStart;
    const double start = nowMs();
    const size_t count = set.steal().size();
    printf("%.3f %.3f %zu %.3f\n", insertMs, insertCpuMs, count, nowMs() - start);
    fflush(stdout);
  }
}
