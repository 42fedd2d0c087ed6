/** Streams, events, copies and launches. */
#include <algorithm>
#include <chrono>
#include <cstring>
#include "driver_api.hpp"

using namespace ptxsim;

static Status checkStream(Driver& d, Stream* stream) {
  return !stream || d.streams.count(stream) ? SUCCESS : d.fail(INVALID_HANDLE, "this is not a stream");
}

static Status checkEvent(Driver& d, Event* event) {
  return d.events.count(event) ? SUCCESS : d.fail(INVALID_HANDLE, "this is not an event");
}

/** Puts `work` on a stream, or does it right away where nothing is before it. */
template <class F>
static Status enqueue(Driver& d, Stream* stream, F work) {
  if (Status status = checkStream(d, stream)) return status;
  bool idle = stream && !d.mustQueue(*stream) && (!stream->blocking || d.defaultStream.queue.empty());
  if (!idle) return d.submit(stream, [work] { return work(), true; });
  try {
    work();
  } catch (const Fault& problem) {
    d.sticky = d.fail(problem);
  }
  return d.sticky;
}

PTXSIM_API cuStreamCreate(Stream** out, unsigned flags) {
  return contextCall([&](Driver& d) {
    *out = new Stream;
    (*out)->blocking = !(flags & 1);
    d.streams.insert(*out);
    d.streamsMade.push_back(*out);
    return SUCCESS;
  });
}

PTXSIM_API cuStreamDestroy_v2(Stream* stream) {
  return contextCall([&](Driver& d) -> Status {
    if (!stream || checkStream(d, stream)) return d.fail(INVALID_HANDLE, "this is not a stream");
    Status status = d.drain(*stream);
    d.streams.erase(stream);
    d.streamsMade.erase(std::find(d.streamsMade.begin(), d.streamsMade.end(), stream));
    delete stream;
    return status;
  });
}

PTXSIM_API cuStreamSynchronize(Stream* stream) {
  return contextCall([&](Driver& d) -> Status {
    if (Status status = checkStream(d, stream)) return status;
    return d.drain(stream ? *stream : d.defaultStream);
  });
}

/** With each question some lazy stream moves by one operation, so that polling comes to an end. */
PTXSIM_API cuStreamQuery(Stream* stream) {
  return contextCall([&](Driver& d) -> Status {
    if (Status status = checkStream(d, stream)) return status;
    Stream& target = stream ? *stream : d.defaultStream;
    if (target.queue.empty()) return SUCCESS;
    d.advance(target);
    if (d.sticky != SUCCESS) return d.sticky;
    return NOT_READY;
  });
}

PTXSIM_API cuStreamWaitEvent(Stream* stream, Event* event, unsigned) {
  return contextCall([&](Driver& d) -> Status {
    if (Status status = checkStream(d, stream)) return status;
    if (Status status = checkEvent(d, event)) return status;
    u64 wanted = event->recorded;
    return d.submit(stream, [event, wanted] { return event->completed >= wanted; });
  });
}

PTXSIM_API cuEventCreate(Event** out, unsigned flags) {
  return contextCall([&](Driver& d) {
    *out = new Event;
    (*out)->timing = !(flags & 2);
    d.events.insert(*out);
    return SUCCESS;
  });
}

PTXSIM_API cuEventDestroy_v2(Event* event) {
  return contextCall([&](Driver& d) -> Status {
    if (Status status = checkEvent(d, event)) return status;
    Status status = d.drainAll();
    d.events.erase(event);
    delete event;
    return status;
  });
}

PTXSIM_API cuEventRecord(Event* event, Stream* stream) {
  return contextCall([&](Driver& d) -> Status {
    if (Status status = checkEvent(d, event)) return status;
    u64 number = ++event->recorded;
    event->stream = stream;
    return enqueue(d, stream, [event, number] {
      event->completed = number;
      event->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    });
  });
}

PTXSIM_API cuEventQuery(Event* event) {
  return contextCall([&](Driver& d) -> Status {
    if (Status status = checkEvent(d, event)) return status;
    if (event->completed == event->recorded) return SUCCESS;
    d.advance(event->stream && d.streams.count(event->stream) ? *event->stream : d.defaultStream);
    return d.sticky != SUCCESS ? d.sticky : NOT_READY;
  });
}

PTXSIM_API cuEventSynchronize(Event* event) {
  return contextCall([&](Driver& d) -> Status {
    if (Status status = checkEvent(d, event)) return status;
    return d.drainTo(*event);
  });
}

PTXSIM_API cuEventElapsedTime(float* milliseconds, Event* first, Event* last) {
  return contextCall([&](Driver& d) -> Status {
    if (Status status = checkEvent(d, first)) return status;
    if (Status status = checkEvent(d, last)) return status;
    if (!first->timing || !last->timing || !first->recorded || !last->recorded)
      return d.fail(INVALID_HANDLE, "an event was not recorded, or has no timing");
    if (first->completed != first->recorded || last->completed != last->recorded) return NOT_READY;
    return *milliseconds = static_cast<float>((last->seconds - first->seconds) * 1e3), SUCCESS;
  });
}

/**
 * Pinned memory is read when the copy runs. Pageable memory is read before the call returns, but what was read lands
 * when the stream comes to it: that holds for cuMemcpyHtoD too.
 */
static Status copyToDevice(Driver& d, u64 to, const void* from, size_t bytes, Stream* stream) {
  if (bytes == 0) return SUCCESS;
  d.engine.memory.check(to, bytes, "cuMemcpyHtoD");
  Memory& memory = d.engine.memory;
  if (d.lazyStreams && !d.isPinned(from, bytes)) {
    std::string staged(static_cast<const char*>(from), bytes);
    return enqueue(d, stream, [&memory, to, staged] {
      std::memcpy(memory.host(to), staged.data(), staged.size());
      memory.markWritten(to, staged.size());
    });
  }
  return enqueue(d, stream, [&memory, to, from, bytes] {
    std::memcpy(memory.host(to), from, bytes);
    memory.markWritten(to, bytes);
  });
}

/** Of a copy to pageable memory the call returns when the copy has been made. */
static Status copyToHost(Driver& d, void* to, u64 from, size_t bytes, Stream* stream) {
  if (bytes == 0) return SUCCESS;
  d.engine.memory.check(from, bytes, "cuMemcpyDtoH");
  Memory& memory = d.engine.memory;
  Status status = enqueue(d, stream, [&memory, to, from, bytes] { std::memcpy(to, memory.host(from), bytes); });
  return status || d.isPinned(to, bytes) ? status : d.drain(stream ? *stream : d.defaultStream);
}

PTXSIM_API cuMemcpyHtoDAsync_v2(u64 to, const void* from, size_t bytes, Stream* stream) {
  return contextCall([&](Driver& d) { return copyToDevice(d, to, from, bytes, stream); });
}

PTXSIM_API cuMemcpyDtoHAsync_v2(void* to, u64 from, size_t bytes, Stream* stream) {
  return contextCall([&](Driver& d) { return copyToHost(d, to, from, bytes, stream); });
}

/** The plain copies are on the default stream, and have ended when they return, but for one from pageable memory. */
PTXSIM_API cuMemcpyHtoD_v2(u64 to, const void* from, size_t bytes) {
  return contextCall([&](Driver& d) -> Status {
    if (Status status = d.drain(d.defaultStream)) return status;
    Status status = copyToDevice(d, to, from, bytes, nullptr);
    return status || !d.isPinned(from, bytes) ? status : d.drain(d.defaultStream);
  });
}

PTXSIM_API cuMemcpyDtoH_v2(void* to, u64 from, size_t bytes) {
  return contextCall([&](Driver& d) -> Status {
    Status status = copyToHost(d, to, from, bytes, nullptr);
    return status ? status : d.drain(d.defaultStream);
  });
}

PTXSIM_API cuMemcpyDtoDAsync_v2(u64 to, u64 from, size_t bytes, Stream* stream) {
  return contextCall([&](Driver& d) -> Status {
    if (bytes == 0) return SUCCESS;
    Memory& memory = d.engine.memory;
    memory.check(to, bytes, "cuMemcpyDtoD");
    memory.check(from, bytes, "cuMemcpyDtoD");
    return enqueue(d, stream, [&memory, to, from, bytes] {
      std::memmove(memory.host(to), memory.host(from), bytes);
      memory.markWritten(to, bytes);
    });
  });
}

PTXSIM_API cuMemsetD8Async(u64 to, unsigned char value, size_t count, Stream* stream) {
  return contextCall([&](Driver& d) -> Status {
    if (count == 0) return SUCCESS;
    Memory& memory = d.engine.memory;
    memory.check(to, count, "cuMemsetD8");
    return enqueue(d, stream, [&memory, to, value, count] {
      std::memset(memory.host(to), value, count);
      memory.markWritten(to, count);
    });
  });
}

PTXSIM_API cuMemsetD32Async(u64 to, unsigned value, size_t count, Stream* stream) {
  return contextCall([&](Driver& d) -> Status {
    if (count == 0) return SUCCESS;
    if (to & 3) return d.fail(INVALID_VALUE, "cuMemsetD32 needs an address that is a multiple of 4");
    Memory& memory = d.engine.memory;
    memory.check(to, count * 4, "cuMemsetD32");
    return enqueue(d, stream, [&memory, to, value, count] {
      u32* words = reinterpret_cast<u32*>(memory.host(to));
      for (size_t k = 0; k < count; ++k) words[k] = value;
      memory.markWritten(to, count * 4);
    });
  });
}

/** The largest parameter list of a kernel of PTX 7.0. */
constexpr size_t PARAM_BYTES_MAX = 4352;

/** Counts down to the launch that is to fail. */
static void meetMishap(Driver& d, const Kernel& kernel) {
  u64& left = d.mishaps.launchesToFault;
  if (left == 0 || --left > 0) return;
  throw Fault(ILLEGAL_ADDRESS, "illegal address: kernel " + kernel.name + " was told to fail by launchesToFault");
}

struct ParamBuffer {
  u8 bytes[PARAM_BYTES_MAX];
};

/** Arguments as an array of pointers, or as one buffer announced by pairs in `extra`. */
static Status gatherParams(Driver& d, const Kernel& kernel, void** params, void** extra, ParamBuffer& out) {
  constexpr size_t BUFFER_POINTER = 1, BUFFER_BYTES = 2;
  if (kernel.paramBytes > PARAM_BYTES_MAX)
    return d.fail(INVALID_VALUE, "kernel " + kernel.name + " has too many parameters");
  if (params) {
    for (size_t k = 0; k < kernel.params.size(); ++k)
      std::memcpy(out.bytes + kernel.params[k].offset, params[k], kernel.params[k].bytes);
    return SUCCESS;
  }
  const void* buffer = nullptr;
  size_t bytes = 0;
  for (size_t k = 0; extra && extra[k]; k += 2) {
    if (reinterpret_cast<size_t>(extra[k]) == BUFFER_POINTER) buffer = extra[k + 1];
    if (reinterpret_cast<size_t>(extra[k]) == BUFFER_BYTES) bytes = *static_cast<size_t*>(extra[k + 1]);
  }
  if (bytes != kernel.paramBytes) {
    return d.fail(INVALID_VALUE, "kernel " + kernel.name + " takes " + std::to_string(kernel.paramBytes) +
                                     " bytes of parameters, got " + std::to_string(bytes));
  }
  if (bytes) std::memcpy(out.bytes, buffer, bytes);
  return SUCCESS;
}

PTXSIM_API cuLaunchKernel(Kernel* kernel, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                          unsigned blockY, unsigned blockZ, unsigned sharedBytes, Stream* stream, void** params,
                          void** extra) {
  return contextCall([&](Driver& d) -> Status {
    if (!d.kernels.count(kernel)) return d.fail(INVALID_HANDLE, "this is not a kernel of a loaded module");
    if (Status status = checkStream(d, stream)) return status;
    Launch launch{{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes};
    checkLaunch(*kernel, launch);
    ParamBuffer buffer;
    if (Status status = gatherParams(d, *kernel, params, extra, buffer)) return status;
    Engine& engine = d.engine;
    if (stream && !d.mustQueue(*stream) && !stream->blocking) {
      return enqueue(d, stream, [&] {
        meetMishap(d, *kernel);
        engine.launch(*kernel, launch, buffer.bytes);
      });
    }
    std::string kept(reinterpret_cast<char*>(buffer.bytes), kernel->paramBytes);
    return enqueue(d, stream, [&d, &engine, kernel, launch, kept] {
      meetMishap(d, *kernel);
      engine.launch(*kernel, launch, reinterpret_cast<const u8*>(kept.data()));
    });
  });
}
