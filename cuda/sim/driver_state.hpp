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
#include "machine.hpp"

namespace ptxsim {

struct Event {
  u64 recorded = 0;   // how often it was put on a stream
  u64 completed = 0;  // how often a stream has reached it
  double seconds = 0;
  bool timing = true;
};

/** Work waits here only when streams are lazy, or behind something that waits. An operation answers false to wait. */
struct Stream {
  std::deque<std::function<bool()>> queue;
  bool blocking = true;  // waits for the default stream and the other way round
};

struct Context {
  u32 references = 0;
};

struct Driver {
  std::mutex lock;
  bool initialized = false;
  Engine engine;
  Context context;
  u32 capability = 75;
  bool lazyStreams = false;
  Status sticky = SUCCESS;  // a fault of a kernel: every call fails with it, as on a GPU
  std::string fault;
  Stream defaultStream;
  std::unordered_set<Stream*> streams;
  std::unordered_set<Event*> events;
  std::unordered_map<Module*, std::unique_ptr<Module>> modules;
  std::unordered_map<Kernel*, Module*> kernels;
  std::map<u8*, size_t> pinned;  // memory of cuMemHostAlloc and cuMemHostRegister

  Status fail(const Fault& problem);
  Status fail(Status status, const std::string& why);
  /** Runs or queues an operation. */
  Status submit(Stream* stream, std::function<bool()> operation);
  bool mustQueue(const Stream& stream) const { return lazyStreams || !stream.queue.empty(); }
  /** One operation of a stream; whether there was one and it was done. */
  bool step(Stream& stream);
  Status drain(Stream& stream);
  Status drainAll();
  void reset();
};

Driver& driver();

/** The context of the calling thread. */
extern thread_local Context* currentContext;

const char* errorName(int status);
const char* errorText(int status);

}  // namespace ptxsim
