/**
 * Which lanes run next. Every lane has its own program counter; those at the lowest one run together until they meet
 * the next group or part. Groups that spin while others could run are set aside for a while, so locks make progress.
 */
#include <algorithm>
#include "machine.hpp"

namespace ptxsim {

namespace {

/** Instructions a group may run on while other lanes of its warp could. */
constexpr u64 GROUP_BUDGET = 512;

struct Group {
  u32 pc = 0;
  u32 mask = 0;
  u32 stop = ~0u;  // where the next group waits
};

Group pickGroup(Warp& warp, u32 runnable, bool splitLanes) {
  Group group;
  if (splitLanes || warp.rotate) {
    // Any lane: at a rotation a random one, else the first.
    u32 skip = warp.rotate || warp.engine->controls.seed
                   ? warp.nextRandom() % static_cast<u32>(__builtin_popcount(runnable))
                   : 0;
    u32 rest = runnable;
    while (skip--) rest &= rest - 1;
    u32 lane = static_cast<u32>(__builtin_ctz(rest));
    warp.rotate = false;
    group.pc = warp.pc[lane];
    if (splitLanes) {
      group.mask = 1u << lane;
      return group;
    }
  } else {
    group.pc = ~0u;
    for (u32 l : lanesOf(runnable)) group.pc = std::min(group.pc, warp.pc[l]);
  }
  for (u32 l : lanesOf(runnable)) {
    if (warp.pc[l] == group.pc) group.mask |= 1u << l;
    else if (warp.pc[l] > group.pc) group.stop = std::min(group.stop, warp.pc[l]);
  }
  return group;
}

u32 lanesAt(const Warp& warp, u32 lanes, u32 pc) {
  u32 mask = 0;
  for (u32 l : lanesOf(lanes))
    if (warp.pc[l] == pc) mask |= 1u << l;
  return mask;
}

void setPc(Warp& warp, u32 lanes, u32 pc) {
  for (u32 l : lanesOf(lanes)) warp.pc[l] = pc;
}

/**
 * Lanes of `active` arrive at a warp operation, which is done for those whose living members are all there; the others
 * wait. Returns the lanes of `active` that go on.
 */
u32 arrive(Warp& warp, const Instruction& i, u32 pc, u32 active) {
  const u32* members = warp.reg<u32>(i.s[3]);
  for (u32 l : lanesOf(active)) {
    if (!(members[l] >> l & 1)) kernelFault(LAUNCH_FAILED, "a lane that is not in its own member mask", warp, i, l);
  }
  u32 waiting = warp.atSync ? lanesAt(warp, warp.atSync, pc) : 0;
  u32 here = active | waiting, live = warp.live(), ready = 0;
  for (u32 l : lanesOf(here))
    if ((members[l] & live & ~here) == 0) ready |= 1u << l;
  if (ready) i.run(warp, i, ready);
  u32 stuck = active & ~ready;
  setPc(warp, stuck, pc);
  setPc(warp, waiting & ready, pc + 1);
  warp.atSync = (warp.atSync & ~ready) | stuck;
  return active & ready;
}

}  // namespace

void Engine::runWarp(Warp& warp, u64 budget) {
  const Instruction* code = warp.kernel->code.data();
  u64 warpInstructions = 0, threadInstructions = 0;
  while (u32 runnable = warp.runnable()) {
    if (warpInstructions >= budget) break;
    Group group = pickGroup(warp, runnable, controls.splitLanes);
    bool others = group.mask != runnable;
    u64 groupEnd = others ? warpInstructions + GROUP_BUDGET : budget;
    u32 pc = group.pc, mask = group.mask;
    while (true) {
      const Instruction& i = code[pc];
      u32 active = mask;
      if (i.guard >= 0) active &= warp.mask(static_cast<u32>(i.guard)) ^ (i.guardNegated ? FULL_MASK : 0);
      ++warpInstructions;
      threadInstructions += static_cast<u32>(__builtin_popcount(active));
      if (__builtin_expect(i.flow == Flow::Plain, 1)) {
        if (active) i.run(warp, i, active);
        if (++pc == group.stop) break;
        continue;
      }
      if (i.flow == Flow::Branch) {
        if (active == mask) {
          bool back = i.target <= pc;
          pc = i.target;
          if (others && pc >= group.stop) break;
          if (back && warpInstructions >= groupEnd) {
            warp.rotate = others;
            break;
          }
          continue;
        }
        if (active == 0) {
          if (++pc == group.stop) break;
          continue;
        }
        ++warp.kernel->counters.divergentBranches;
        setPc(warp, active, i.target);
        setPc(warp, mask & ~active, pc + 1);
        mask = 0;
        if (warpInstructions >= groupEnd) warp.rotate = true;
        break;
      }
      if (i.flow == Flow::WarpSync) {
        u32 through = active ? arrive(warp, i, pc, active) : 0;
        if (through == active && !controls.splitLanes) {
          if (++pc == group.stop) break;
          continue;
        }
        setPc(warp, (mask & ~active) | through, pc + 1);
        mask = 0;
        break;
      }
      setPc(warp, mask & ~active, pc + 1);
      setPc(warp, active, pc);
      (i.flow == Flow::Exit ? warp.exited : warp.atBarrier) |= active;
      mask = 0;
      break;
    }
    setPc(warp, mask, pc);
  }
  warp.kernel->counters.warpInstructions += warpInstructions;
  warp.kernel->counters.threadInstructions += threadInstructions;
}

namespace {

struct BarrierState {
  u32 arrived = 0;
  u32 expected = 0;  // of the count operand; 0 is the whole block
  u32 ayes = 0;
};

u32 barrierOf(const Warp& warp, const Instruction& i, u32 lane) { return warp.reg<u32>(i.s[0])[lane] & 15; }

/** bar.sync is an operation of whole warps: lanes of one must not wait at different barriers, or not at all. */
void checkConverged(Warp& warp, u32 waiting) {
  u32 first = static_cast<u32>(__builtin_ctz(waiting));
  const Instruction& i = warp.kernel->code[warp.pc[first]];
  if (!i.isAligned) return;
  u32 elsewhere = warp.live() & ~lanesAt(warp, waiting, warp.pc[first]);
  if (!elsewhere) return;
  u32 other = static_cast<u32>(__builtin_ctz(elsewhere));
  kernelFault(LAUNCH_FAILED,
              "divergent barrier: lane " + std::to_string(other) + " of the warp is at PTX line " +
                  std::to_string(warp.kernel->code[warp.pc[other]].line) + " while others wait, bar.sync",
              warp, i, first);
}

void passBarrier(Warp& warp, u32 lane, const BarrierState& state) {
  const Instruction& i = warp.kernel->code[warp.pc[lane]];
  u32 bit = 1u << lane;
  if (i.result == BarrierResult::Popc) warp.reg<u32>(i.d[0])[lane] = state.ayes;
  else if (i.result != BarrierResult::None) {
    bool holds = i.result == BarrierResult::And ? state.ayes == state.arrived : state.ayes > 0;
    u32& d = warp.mask(i.d[0]);
    d = (d & ~bit) | (holds ? bit : 0);
  }
  warp.atBarrier &= ~bit;
  ++warp.pc[lane];
}

}  // namespace

bool Engine::releaseBarriers(Block& block) {
  BarrierState states[16];
  u32 live = 0;
  bool any = false;
  for (Warp& warp : block.warps) {
    live += static_cast<u32>(__builtin_popcount(warp.live()));
    for (u32 l : lanesOf(warp.atBarrier)) {
      const Instruction& i = warp.kernel->code[warp.pc[l]];
      BarrierState& state = states[barrierOf(warp, i, l)];
      ++state.arrived;
      if (u32 count = warp.reg<u32>(i.s[1])[l]) state.expected = count;
      if (i.result != BarrierResult::None)
        state.ayes += (warp.mask(static_cast<u32>(i.predicate)) >> l & 1) ^ i.negated;
    }
  }
  for (u32 id = 0; id < 16; ++id) {
    BarrierState& state = states[id];
    if (state.arrived == 0 || state.arrived < (state.expected ? state.expected : live)) continue;
    any = true;
    for (Warp& warp : block.warps) {
      u32 waiting = 0;
      for (u32 l : lanesOf(warp.atBarrier))
        if (barrierOf(warp, warp.kernel->code[warp.pc[l]], l) == id) waiting |= 1u << l;
      if (!waiting) continue;
      checkConverged(warp, waiting);
      for (u32 l : lanesOf(waiting)) passBarrier(warp, l, state);
    }
    ++block.warps[0].kernel->counters.barriers;
    if (!state.expected) block.nextEpoch();
  }
  return any;
}

}  // namespace ptxsim
