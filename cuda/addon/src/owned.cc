#include "owned.h"
#include <mutex>
#include <utility>
#include <vector>
#include <map>
#include "calls.h"

namespace cuda {

namespace {

struct Owner {
  napi_env env;
  uint64_t parent;
};

std::mutex lock;
std::map<std::pair<Kind, uint64_t>, Owner> owned;

/** All that an environment has, in the order of Kind. */
std::vector<std::pair<Kind, uint64_t>> takeAll(napi_env env) {
  std::lock_guard<std::mutex> guard(lock);
  std::vector<std::pair<Kind, uint64_t>> found;
  for (auto entry = owned.begin(); entry != owned.end();) {
    if (entry->second.env != env) {
      ++entry;
      continue;
    }
    found.push_back(entry->first);
    entry = owned.erase(entry);
  }
  return found;
}

/** Results do not count here: after a fault the driver refuses all of it, and the process gives it back. */
void release(Kind kind, uint64_t number) {
  Handle handle = reinterpret_cast<Handle>(number);
  switch (kind) {
    case Kind::STREAM:
      // Copies that wait in it read and write memory which is about to go.
      table.cuStreamSynchronize(handle);
      table.cuStreamDestroy_v2(handle);
      return;
    case Kind::REGISTERED: table.cuMemHostUnregister(handle); return;
    case Kind::EVENT: table.cuEventDestroy_v2(handle); return;
    case Kind::MEMORY: table.cuMemFree_v2(number); return;
    case Kind::KERNEL: return;
    case Kind::MODULE: table.cuModuleUnload(handle); return;
  }
}

/** Calls that were under way on other threads have ended when Node runs this, on the thread of the environment. */
void end(void* env) {
  std::vector<std::pair<Kind, uint64_t>> rest = takeAll(static_cast<napi_env>(env));
  if (rest.empty() || !threadContext || table.cuCtxSetCurrent(threadContext) != 0) return;
  for (auto& [kind, handle] : rest) release(kind, handle);
}

}  // namespace

void own(napi_env env, Kind kind, uint64_t handle, uint64_t parent) {
  std::lock_guard<std::mutex> guard(lock);
  // A kernel that is asked for again, maybe by another thread, stays with the first: they all go with the module.
  owned.emplace(std::make_pair(kind, handle), Owner{env, parent});
}

bool isOwned(Kind kind, uint64_t handle) {
  std::lock_guard<std::mutex> guard(lock);
  return owned.count({kind, handle}) != 0;
}

void disown(Kind kind, uint64_t handle) {
  std::lock_guard<std::mutex> guard(lock);
  owned.erase({kind, handle});
  if (kind != Kind::MODULE) return;
  for (auto entry = owned.begin(); entry != owned.end();) {
    bool isPart = entry->first.first == Kind::KERNEL && entry->second.parent == handle;
    entry = isPart ? owned.erase(entry) : std::next(entry);
  }
}

void giveBackAtEnd(napi_env env) { napi_add_env_cleanup_hook(env, end, env); }

}  // namespace cuda
