#include "driver_state.hpp"
#include <algorithm>

namespace ptxsim {

thread_local Context* currentContext = nullptr;

Driver& driver() {
  // Never destroyed: threads of the process may still call in while it exits.
  static Driver* instance = new Driver;
  return *instance;
}

Status Driver::fail(const Fault& problem) { return fail(problem.status, problem.what()); }

Status Driver::fail(Status status, const std::string& why) {
  fault = why;
  return status;
}

bool Driver::step(Stream& stream) {
  if (stream.queue.empty() || sticky != SUCCESS) return false;
  bool done = true;
  try {
    done = stream.queue.front()();
  } catch (const Fault& problem) {
    sticky = fail(problem);
  }
  if (done && !stream.queue.empty()) stream.queue.pop_front();
  return done;
}

Status Driver::drainAll() {
  while (advance(defaultStream)) {}
  if (sticky != SUCCESS) return sticky;
  for (Stream* stream : inTurn(defaultStream)) {
    if (!stream->queue.empty())
      return sticky = fail(LAUNCH_TIMEOUT, "deadlock: a stream waits for an event that is never reached");
  }
  return SUCCESS;
}

u64 Driver::draw(u64 count) {
  drawn = drawn * 6364136223846793005ull + 1442695040888963407ull;
  return (drawn >> 33) % count;
}

/**
 * A GPU may run streams in any order that events allow. By order 0 the awaited one is first, and the others do only
 * what it waits for; by 1 it is last, so that all others are as far ahead as they can be; any other number is the seed
 * of a draw.
 */
std::vector<Stream*> Driver::inTurn(Stream& awaited) {
  std::vector<Stream*> turn = {&defaultStream};
  turn.insert(turn.end(), streamsMade.begin(), streamsMade.end());
  auto at = std::find(turn.begin(), turn.end(), &awaited);
  if (streamOrder == 0) std::rotate(turn.begin(), at, at + 1);
  else if (streamOrder == 1) std::rotate(at, at + 1, turn.end());
  else
    for (size_t k = turn.size(); k > 1; --k) std::swap(turn[k - 1], turn[draw(k)]);
  return turn;
}

bool Driver::advance(Stream& stream) {
  for (Stream* next : inTurn(stream))
    if (step(*next)) return true;
  return false;
}

bool Driver::isPinned(const void* start, size_t bytes) const {
  const u8* first = static_cast<const u8*>(start);
  auto after = pinned.upper_bound(const_cast<u8*>(first));
  if (after == pinned.begin()) return false;
  auto found = std::prev(after);
  return first + bytes <= found->first + found->second;
}

/** Runs until a stream has come to its end. */
Status Driver::drain(Stream& stream) {
  while (!stream.queue.empty() && sticky == SUCCESS)
    if (!advance(stream)) return drainAll();
  return sticky;
}

/** Runs the stream of an event up to it. */
Status Driver::drainTo(Event& event) {
  Stream& stream = event.stream && streams.count(event.stream) ? *event.stream : defaultStream;
  while (event.completed != event.recorded && sticky == SUCCESS)
    if (!advance(stream)) return drainAll();
  return sticky;
}

Status Driver::submit(Stream* stream, std::function<bool()> operation) {
  Stream& target = stream ? *stream : defaultStream;
  // The default stream waits for the blocking ones, and they for it.
  if (!stream) {
    for (Stream* other : streams)
      if (other->blocking) drain(*other);
  } else if (target.blocking) drain(defaultStream);
  if (sticky != SUCCESS) return sticky;
  target.queue.push_back(std::move(operation));
  if (!lazyStreams) drain(target);
  else if (streamOrder > 1 && draw(2)) advance(target);  // a GPU may begin at once
  return sticky;
}

void Driver::reset() {
  sticky = SUCCESS;
  fault.clear();
  defaultStream.queue.clear();
  for (Stream* stream : streams) stream->queue.clear();
}

static const struct {
  int status;
  const char* name;
  const char* text;
} ERRORS[] = {
    {SUCCESS, "CUDA_SUCCESS", "no error"},
    {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {JIT_COMPILER_NOT_FOUND, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "PTX JIT compiler library not found"},
    {UNSUPPORTED_PTX_VERSION, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain"},
    {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {HOST_MEMORY_ALREADY_REGISTERED, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "part or all of the requested memory range is already mapped"},
    {HOST_MEMORY_NOT_REGISTERED, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
    {MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
};

const char* errorName(int status) {
  for (auto& entry : ERRORS)
    if (entry.status == status) return entry.name;
  return "CUDA_ERROR_UNKNOWN";
}

const char* errorText(int status) {
  for (auto& entry : ERRORS)
    if (entry.status == status) return entry.text;
  return "unknown error";
}

}  // namespace ptxsim
