// Runs a compiled program: the list of kernel calls of one training step, over registers.
//
// An instruction is u32 words: | opcode + (operands << 12) + (checked << 20) | trace name | result register | operand registers … |.
// A register is 4 bytes: a pointer, a count or a float's bits. Register 0 is unused: as a result it means "none". Each
// slice of the batch has a register file of its own over its own buffers, so one list of instructions serves all threads.
// A checked instruction whose result is negative ends the step with that result.
// src/runtime/kernels/kernels.ts is the table of opcodes, src/runtime/backends/reference/program.ts the plain twin.
import * as dense from "./dense";
import * as optim from "./optim";
import * as sparse from "./sparse";
import { host } from "./host";
import { barrier } from "./sync";
import { filterAsk, filterCount } from "./filter";
import { tableAdmit, tableApply, tableFind, tableRetrieve, tableTouch } from "./table";
import { traceNow, traceOn, traceSpan } from "./trace";

// Step context of one thread, u32 words; src/memory/control-layout.ts draws it.
const STAGES: usize = 0;
const STAGES_END: usize = 4;
const SLICE_REGISTERS: usize = 16;
const SLICE_REGISTERS_STRIDE: usize = 20;
const SLICE_BEGIN: usize = 24;
const SLICE_END: usize = 28;
const SLICE_COUNT: usize = 32;
const THREAD_REGISTERS: usize = 36;
const CONTROL: usize = 40;
const THREADS: usize = 44;
const TRACE: usize = 48;
const TRACE_BARRIER: usize = 52;
const BINDINGS: usize = 64;
const FAILED_AT: usize = 68;
const FAILED_DETAIL: usize = 72;
const CAPTURES: usize = 76;
const TRACE_KERNELS: usize = 80;

/** Commands that can be under way at once. */
const COMMANDS: i32 = 64;

const BINDING_FIXED: u32 = 2;

const STATUS_ABORTED: i32 = -1;
const STATUS_BATCH_ROWS: i32 = -2;
const STATUS_BATCH_VALUES: i32 = -3;
const STATUS_KERNEL: i32 = -4;

// @ts-ignore: decorator
@inline function u(operands: usize, registers: usize, i: usize): u32 {
  return load<u32>(registers + (<usize>load<u32>(operands + (i << 2)) << 2));
}

// @ts-ignore: decorator
@inline function f(operands: usize, registers: usize, i: usize): f32 {
  return load<f32>(registers + (<usize>load<u32>(operands + (i << 2)) << 2));
}

function dispatch(opcode: u32, o: usize, r: usize): i32 {
  switch (opcode) {
    case 2: dense.copyRowsF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6)); return 0;
    case 4: dense.subF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8)); return 0;
    case 5: dense.mulF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8)); return 0;
    case 6: dense.scaleF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), f(o, r, 6), u(o, r, 7)); return 0;
    case 7: dense.addBiasF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6)); return 0;
    case 8: dense.sumRowsF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5)); return 0;
    case 9: dense.sumF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), f(o, r, 5)); return 0;
    case 10: dense.broadcastScalarF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), f(o, r, 5), u(o, r, 6)); return 0;
    case 11: dense.rowDotF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8)); return 0;
    case 12: dense.scaleRowsF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8)); return 0;
    case 13: dense.reluF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5)); return 0;
    case 14: dense.reluGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8)); return 0;
    case 15: dense.sigmoidF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5)); return 0;
    case 16: dense.sigmoidGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8)); return 0;
    case 17: dense.tanhF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5)); return 0;
    case 18: dense.tanhGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8)); return 0;
    case 19: dense.bceLogitsF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6)); return 0;
    case 20: dense.bceLogitsGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9)); return 0;
    case 21: dense.gemmF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9), u(o, r, 10), u(o, r, 11), u(o, r, 12)); return 0;
    case 22: dense.reduceSlicesF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4)); return 0;
    case 23: dense.applySgdF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), f(o, r, 3)); return 0;
    case 24: dense.applyAdagradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), f(o, r, 4), f(o, r, 5)); return 0;
    case 25: dense.applyFtrlF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), f(o, r, 5), f(o, r, 6), f(o, r, 7), f(o, r, 8)); return 0;
    case 26: addCountI64(u(o, r, 0), u(o, r, 1)); return 0;
    case 27: optim.applyAdamomF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), f(o, r, 6), f(o, r, 7), f(o, r, 8), f(o, r, 9), f(o, r, 10), u(o, r, 11), u(o, r, 12)); return 0;
    case 28: optim.applyDenseRmspropF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), f(o, r, 5), f(o, r, 6), f(o, r, 7), f(o, r, 8), f(o, r, 9), u(o, r, 10)); return 0;
    case 40: return <i32>advanceGeneration(u(o, r, 0), u(o, r, 1), u(o, r, 2));
    case 41: return <i32>sparse.uniqueI64(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7));
    case 42: sparse.partitionByHash(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4)); return 0;
    case 43: return <i32>tableFind(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4));
    case 44: sparse.poolSumF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6)); return 0;
    case 45: sparse.zeroRowsF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3)); return 0;
    case 46: sparse.scatterAddF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8)); return 0;
    case 47: return tableApply(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6));
    case 48: return <i32>tableRetrieve(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5));
    case 49: return host(49, u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), 0);
    case 50: return host(50, u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6));
    case 51: sparse.countInverseU32(u(o, r, 0), u(o, r, 1), u(o, r, 2)); return 0;
    case 52: return <i32>tableAdmit(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4));
    case 53: return tableTouch(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7));
    case 54: filterAsk(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5)); return 0;
    case 55: filterCount(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4)); return 0;
    case 80: dense.geluF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5)); return 0;
    case 81: dense.geluGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8)); return 0;
    case 82: dense.geluTanhF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5)); return 0;
    case 83: dense.geluTanhGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8)); return 0;
    case 84: dense.swishF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5)); return 0;
    case 85: dense.swishGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8)); return 0;
    case 86: dense.softplusF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5)); return 0;
    case 87: dense.softplusGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8)); return 0;
    case 88: dense.leakyReluF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), f(o, r, 6)); return 0;
    case 89: dense.leakyReluGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), f(o, r, 8), u(o, r, 9)); return 0;
    case 90: dense.preluF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6)); return 0;
    case 91: dense.preluGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9)); return 0;
    case 92: dense.preluSlopeGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6)); return 0;
    case 93: dense.scaleColumnsF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7)); return 0;
    case 94: dense.layerNormF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), f(o, r, 9)); return 0;
    case 95: dense.layerNormGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9), u(o, r, 10)); return 0;
    case 96: dense.layerNormGainGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7)); return 0;
    case 97: dense.l2NormalizeF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), f(o, r, 6)); return 0;
    case 98: dense.l2NormalizeGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), f(o, r, 8), u(o, r, 9)); return 0;
    case 99: dense.weightedBceF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), f(o, r, 7), f(o, r, 8)); return 0;
    case 100: dense.weightedBceGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), f(o, r, 9), f(o, r, 10), u(o, r, 11)); return 0;
    case 101: dense.hingeF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6)); return 0;
    case 102: dense.hingeGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9)); return 0;
    case 103: dense.focalF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), f(o, r, 7), f(o, r, 8), f(o, r, 9)); return 0;
    case 104: dense.focalGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), f(o, r, 9), f(o, r, 10), f(o, r, 11), u(o, r, 12)); return 0;
    case 105: dense.softmaxLossF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8)); return 0;
    case 106: dense.softmaxLossGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9), u(o, r, 10), u(o, r, 11)); return 0;
    case 110: dense.fmPairsF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7)); return 0;
    case 111: dense.fmPairsGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9)); return 0;
    case 60: dense.sumSquaresF64(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3)); return 0;
    case 61: dense.rootOfSumF32(u(o, r, 0), u(o, r, 1), u(o, r, 2)); return 0;
    case 62: dense.clipToNormF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), f(o, r, 4)); return 0;
    case 63: dense.binaryF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9), u(o, r, 10)); return 0;
    case 64: dense.unaryF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6)); return 0;
    case 65: dense.sumColumnsF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), f(o, r, 6)); return 0;
    case 66: dense.maxColumnsF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5)); return 0;
    case 67: dense.broadcastF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), f(o, r, 7), u(o, r, 8)); return 0;
    case 68: dense.inbatchAucF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5)); return 0;
    case 69: dense.inbatchAucGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), f(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9)); return 0;
    case 70: dense.maxRowsF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4)); return 0;
    case 112: dense.copyBlocksF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9)); return 0;
    case 113: dense.transposeInnerF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8)); return 0;
    case 114: dense.gatherInnerF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9), u(o, r, 10)); return 0;
    case 115: dense.scatterInnerF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9), u(o, r, 10)); return 0;
    case 116: dense.sumInnerF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), f(o, r, 8), u(o, r, 9)); return 0;
    case 117: dense.maxInnerF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8)); return 0;
    case 118: dense.maxInnerGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9), u(o, r, 10), u(o, r, 11), u(o, r, 12)); return 0;
    case 119: dense.broadcastInnerF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), f(o, r, 8), u(o, r, 9)); return 0;
    case 120: dense.addSharedF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8)); return 0;
    case 121: dense.mulSharedF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8)); return 0;
    case 122: dense.sumSharedF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7)); return 0;
    case 123: dense.cinGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9), u(o, r, 10), u(o, r, 11), u(o, r, 12), u(o, r, 13), u(o, r, 14), u(o, r, 15), u(o, r, 16), u(o, r, 17), u(o, r, 18), u(o, r, 19)); return 0;
    case 124: dense.scaleGroupsF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9)); return 0;
    case 125: dense.groupDotF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9)); return 0;
    case 126: dense.softmaxF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9)); return 0;
    case 127: dense.softmaxGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9)); return 0;
    case 128: dense.topKF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9)); return 0;
    case 129: dense.topKGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9), u(o, r, 10)); return 0;
    case 130: dense.batchMatMulF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8)); return 0;
    case 131: return <i32>dense.multiplyU32(u(o, r, 0), u(o, r, 1));
    case 132: sparse.seqMaskF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4)); return 0;
    case 133: sparse.firstNF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7)); return 0;
    case 134: sparse.firstNGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9)); return 0;
    case 135: sparse.poolMeanF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6)); return 0;
    case 136: sparse.scatterMeanF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8)); return 0;
    case 137: dense.pairProductsF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9), u(o, r, 10)); return 0;
    case 138: dense.pairProductsGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9), u(o, r, 10), u(o, r, 11), u(o, r, 12)); return 0;
    case 139: dense.cinF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9), u(o, r, 10), u(o, r, 11), u(o, r, 12), u(o, r, 13)); return 0;
    case 107: dense.dropoutF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9), f(o, r, 10), u(o, r, 11)); return 0;
    case 108: dense.divideByScalarF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7)); return 0;
    case 170: return <i32>sparse.uniqueColumnsI64(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9), u(o, r, 10));
    case 171: sparse.countColumnsU32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3)); return 0;
    case 172: sparse.gatherSlicesF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5)); return 0;
    case 174: dense.biasReluF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6)); return 0;
    case 173: sparse.scatterSlicesF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7)); return 0;
    case 175: sparse.numberRepeatsU32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8)); return 0;
    case 176: dense.gemmRepeatsF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9), u(o, r, 10), u(o, r, 11), u(o, r, 12)); return 0;
    case 177: dense.gemmRepeatsGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9), u(o, r, 10), u(o, r, 11), u(o, r, 12), u(o, r, 13), u(o, r, 14), u(o, r, 15), u(o, r, 16), u(o, r, 17)); return 0;
    case 140: optim.applyDenseMomentumF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), f(o, r, 4), f(o, r, 5), u(o, r, 6)); return 0;
    case 141: optim.applyDenseAdamF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), f(o, r, 5), u(o, r, 6), u(o, r, 7), f(o, r, 8), f(o, r, 9), f(o, r, 10), f(o, r, 11), u(o, r, 12)); return 0;
    case 142: optim.applyStandardFtrlF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), f(o, r, 5), f(o, r, 6), f(o, r, 7), f(o, r, 8)); return 0;
    case 143: optim.applyShampooF32(u(o, r, 0), f(o, r, 1), u(o, r, 2)); return 0;
    case 144: optim.clipValueF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), f(o, r, 3), f(o, r, 4)); return 0;
    case 146: optim.sumF64(u(o, r, 0), u(o, r, 1), u(o, r, 2)); return 0;
    case 147: optim.clipRowsToNormF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), f(o, r, 7)); return 0;
    case 149: optim.rowSquaresF64(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4)); return 0;
    case 650: dense.castI64F32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5)); return 0;
    default: return STATUS_KERNEL;
  }
}

/** Adds `count` to the i64 at `p`. */
export function addCountI64(p: usize, count: u32): void {
  store<i64>(p, load<i64>(p) + <i64>count);
}

/**
 * Opens a new generation of a uniqueI64 scratch table, whose cells thereby count as empty, and returns it. The last one
 * is kept at `cell`; when the number wraps, the table is cleared.
 */
export function advanceGeneration(cell: usize, table: usize, cells: u32): u32 {
  let generation = load<u32>(cell) + 1;
  if (generation == 0) {
    memory.fill(table, 0, <usize>cells << 4);
    generation = 1;
  }
  store<u32>(cell, generation);
  return generation;
}

/** `trace` is 0 when the kernels of this step are not recorded: reading the clock around each would cost too much. */
function runCode(context: usize, code: usize, end: usize, registers: usize, trace: usize): i32 {
  let pc = code;
  const traced = traceOn(trace);
  let start = traceNow(trace);
  while (pc < end) {
    const head = load<u32>(pc);
    const result = dispatch(head & 0xfff, pc + 12, registers);
    const to = load<u32>(pc, 8);
    if (to != 0) store<i32>(registers + (<usize>to << 2), result);
    if ((head >> 20) != 0 && result < 0) {
      store<u32>(context, load<u32>(pc, 4), FAILED_AT);
      store<i32>(context, result, FAILED_DETAIL);
      return STATUS_KERNEL;
    }
    if (traced) {
      const stop = traceNow(trace);
      traceSpan(trace, load<u32>(pc, 4), start, stop);
      start = stop;
    }
    pc += 12 + (<usize>((head >> 12) & 0xff) << 2);
  }
  return 0;
}

/**
 * Points the feed registers of one slice at its part of a batch. Bindings, u32 words: | 0 entries | 1 register of the
 * row count | 2 register of 1/batch | 3 rows a slice can hold | then entries of 8 words: | kind (0 dense, 1 ragged,
 * 2 rows of a fixed buffer, 3 rows of the batch) | pointer word of the batch or address | register of data or splits | register of values | register of the value count |
 * row bytes or value capacity | byte offset | name |.
 */
export function bindBatch(context: usize, registers: usize, batch: usize, bindings: usize, slice: u32, sliceCount: u32): i32 {
  const rows = load<u32>(batch);
  const begin = <u32>(<u64>rows * slice / sliceCount);
  const count = <u32>(<u64>rows * (slice + 1) / sliceCount) - begin;
  if (count > load<u32>(bindings, 12)) {
    store<u32>(context, rows, FAILED_AT);
    return STATUS_BATCH_ROWS;
  }
  store<u32>(registers + (<usize>load<u32>(bindings, 4) << 2), count);
  store<f32>(registers + (<usize>load<u32>(bindings, 8) << 2), rows == 0 ? 0 : <f32>1 / <f32>rows);
  const entries = load<u32>(bindings);
  let entry = bindings + 16;
  for (let i: u32 = 0; i < entries; i++, entry += 32) {
    const kind = load<u32>(entry);
    if (kind >= BINDING_FIXED) {
      const value = kind == BINDING_FIXED ? load<u32>(entry, 4) + begin * load<u32>(entry, 20) : rows;
      store<u32>(registers + (<usize>load<u32>(entry, 8) << 2), value);
      continue;
    }
    const pointer = <usize>load<u32>(batch + (<usize>load<u32>(entry, 4) << 2));
    if (kind == 0) {
      store<u32>(registers + (<usize>load<u32>(entry, 8) << 2), <u32>pointer + begin * load<u32>(entry, 20) + load<u32>(entry, 24));
      continue;
    }
    const splits = pointer + (<usize>begin << 2);
    const values = <usize>load<u32>(batch + (<usize>load<u32>(entry, 4) << 2), 4);
    const first = load<u32>(splits);
    const valueCount = load<u32>(splits + (<usize>count << 2)) - first;
    if (valueCount > load<u32>(entry, 20)) {
      store<u32>(context, load<u32>(entry, 28), FAILED_AT);
      store<u32>(context, valueCount, FAILED_DETAIL);
      return STATUS_BATCH_VALUES;
    }
    store<u32>(registers + (<usize>load<u32>(entry, 8) << 2), <u32>splits);
    store<u32>(registers + (<usize>load<u32>(entry, 12) << 2), <u32>(values + (<usize>first << 3)));
    store<u32>(registers + (<usize>load<u32>(entry, 16) << 2), valueCount);
  }
  return 0;
}

/**
 * Keeps scalars of this thread's slices where the next step does not overwrite them. Captures, u32 words: | 0 count |
 * 1 where they go | 2 bytes per command | 3 - | then pairs: address in slice 0, bytes to the next slice |. What goes
 * there is f32[count][slices], in one of COMMANDS places by the command's number.
 */
function capture(context: usize, command: i32): void {
  const captures = <usize>load<u32>(context, CAPTURES);
  if (captures == 0) return;
  const count = load<u32>(captures);
  const slices = <usize>load<u32>(context, SLICE_COUNT);
  const begin = <usize>load<u32>(context, SLICE_BEGIN), end = <usize>load<u32>(context, SLICE_END);
  let to = <usize>load<u32>(captures, 4) + <usize>(command & (COMMANDS - 1)) * <usize>load<u32>(captures, 8);
  for (let i: u32 = 0; i < count; i++, to += slices << 2) {
    const from = <usize>load<u32>(captures + (<usize>i << 3), 16);
    const stride = <usize>load<u32>(captures + (<usize>i << 3), 20);
    for (let s = begin; s < end; s++) store<f32>(to + (s << 2), load<f32>(from + s * stride));
  }
}

// A stage, u32 words.
const STAGE_KIND: usize = 0;
const STAGE_CODE: usize = 4;
const STAGE_CODE_END: usize = 8;
const STAGE_TRACE: usize = 12;
const STAGE_BYTES: usize = 16;
const STAGE_SLICES: u32 = 0;

function bindSlices(context: usize, batch: usize): i32 {
  const registers = <usize>load<u32>(context, SLICE_REGISTERS);
  const stride = <usize>load<u32>(context, SLICE_REGISTERS_STRIDE);
  const bindings = <usize>load<u32>(context, BINDINGS);
  const end = load<u32>(context, SLICE_END);
  for (let s = load<u32>(context, SLICE_BEGIN); s < end; s++) {
    const status = bindBatch(context, registers + <usize>s * stride, batch, bindings, s, load<u32>(context, SLICE_COUNT));
    if (status != 0) return status;
  }
  return 0;
}

function runStage(context: usize, stage: usize, kernels: usize): i32 {
  const code = <usize>load<u32>(stage, STAGE_CODE);
  const codeEnd = <usize>load<u32>(stage, STAGE_CODE_END);
  if (load<u32>(stage, STAGE_KIND) != STAGE_SLICES) {
    return runCode(context, code, codeEnd, <usize>load<u32>(context, THREAD_REGISTERS), kernels);
  }
  const registers = <usize>load<u32>(context, SLICE_REGISTERS);
  const stride = <usize>load<u32>(context, SLICE_REGISTERS_STRIDE);
  const end = load<u32>(context, SLICE_END);
  for (let s = load<u32>(context, SLICE_BEGIN); s < end; s++) {
    const status = runCode(context, code, codeEnd, registers + <usize>s * stride, kernels);
    if (status != 0) return status;
  }
  return 0;
}

/**
 * One step of one thread: its part of every stage with a barrier between any two, and a barrier that publishes
 * `command`. A quiet step wakes nobody: more steps follow at once.
 */
export function runStep(context: usize, batch: usize, command: i32, quiet: bool): i32 {
  const control = <usize>load<u32>(context, CONTROL);
  const threads = load<i32>(context, THREADS);
  const trace = <usize>load<u32>(context, TRACE);
  // The third command is among those recorded: short runs have one that is warm.
  const kernels = (<u32>(command ^ 3) & load<u32>(context, TRACE_KERNELS)) == 0 ? trace : 0;
  const waiting = load<u32>(context, TRACE_BARRIER);
  const first = <usize>load<u32>(context, STAGES);
  const end = <usize>load<u32>(context, STAGES_END);
  // A moment ends one span and begins the next: the clock is read once for both.
  let from = traceNow(trace);
  if (batch != 0) {
    const status = bindSlices(context, batch);
    if (status != 0) return status;
  }
  for (let stage = first; stage < end; stage += STAGE_BYTES) {
    if (stage != first) {
      if (!barrier(control, threads, 0, true)) return STATUS_ABORTED;
      const open = traceNow(trace);
      traceSpan(trace, waiting, from, open);
      from = open;
    }
    const status = runStage(context, stage, kernels);
    if (status != 0) return status;
    const done = traceNow(trace);
    traceSpan(trace, load<u32>(stage, STAGE_TRACE), from, done);
    from = done;
  }
  capture(context, command);
  const together = barrier(control, threads, command, quiet);
  traceSpan(trace, waiting, from, traceNow(trace));
  return together ? 0 : STATUS_ABORTED;
}
