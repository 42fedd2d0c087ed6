/** State behind the driver calls: one simulated device, its context, streams and events, under one lock. */
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>
#include "machine.hpp"

namespace ptxsim {

struct Stream;

struct Event {
  u64 recorded = 0;   // how often it was put on a stream
  u64 completed = 0;  // how often a stream has reached it
  double seconds = 0;
  bool timing = true;
  Stream* stream = nullptr;  // where it was put last
};

/** Work waits here only when streams are lazy, or behind something that waits. An operation answers false to wait. */
struct Stream {
  std::deque<std::function<bool()>> queue;
  bool blocking = true;  // waits for the default stream and the other way round
};

struct Context {
  u32 references = 0;
};

/** What goes wrong on purpose, so that tests see what a machine with such a driver or device would do. */
struct Mishaps {
  u32 driverVersion = 13000;  // as cuDriverGetVersion says it; PTX that is newer is refused
  u32 deviceCount = 1;
  u32 moduleLoadStatus = 0;      // what loading a module fails with
  u64 launchesToFault = 0;       // the last of so many launches touches memory that is not there; 0: none does
  u64 pinnedBytes = 1ull << 52;  // host memory that can be pinned

  /** The newest PTX that a driver of this version reads, times ten. */
  u32 ptxVersionMax() const {
    u32 major = driverVersion / 1000, minor = driverVersion % 1000 / 10;
    return major < 11 ? 65 : (major - 4) * 10 + minor;
  }
};

struct Driver {
  std::mutex lock;
  bool initialized = false;
  Engine engine;
  Context context;
  u32 capability = 75;
  bool lazyStreams = false;
  u64 streamOrder = 0;  // whose turn it is when lazy streams are waited for; see inTurn
  u64 drawn = 0;        // state of the draws
  Mishaps mishaps;
  Status sticky = SUCCESS;  // a fault of a kernel: every call fails with it, as on a GPU
  std::string fault;
  Stream defaultStream;
  std::unordered_set<Stream*> streams;
  std::vector<Stream*> streamsMade;  // the same ones, in the order they were made
  std::unordered_set<Event*> events;
  std::unordered_map<Module*, std::unique_ptr<Module>> modules;
  std::unordered_map<Kernel*, Module*> kernels;
  std::map<u8*, size_t> pinned;  // memory of cuMemHostAlloc and cuMemHostRegister
  u64 pinnedBytes = 0;

  Status fail(const Fault& problem);
  Status fail(Status status, const std::string& why);
  /** Runs or queues an operation. */
  Status submit(Stream* stream, std::function<bool()> operation);
  bool mustQueue(const Stream& stream) const { return lazyStreams || !stream.queue.empty(); }
  /** One operation of a stream; whether there was one and it was done. */
  bool step(Stream& stream);
  Status drain(Stream& stream);
  /** One operation of some stream, while `stream` is waited for; false when nothing can move. */
  bool advance(Stream& stream);
  /** All streams, in the order in which they are asked for an operation. */
  std::vector<Stream*> inTurn(Stream& awaited);
  u64 draw(u64 count);
  /** Whether all of a range of host memory is pinned. */
  bool isPinned(const void* start, size_t bytes) const;
  Status drainTo(Event& event);
  Status drainAll();
  void reset();
};

/** Sets the controls that the environment variable PTXSIM_CONTROLS names, as `deviceCount=0 memoryBytes=65536`. */
Status controlsOfEnvironment(Driver& d);

Driver& driver();

/** The context of the calling thread. */
extern thread_local Context* currentContext;

const char* errorName(int status);
const char* errorText(int status);

}  // namespace ptxsim
