// Runs a compiled program: the list of kernel calls of one training step, over registers.
//
// src/memory/program-layout.ts draws instructions, stages and what else a program is made of. A register is 4 bytes: a
// pointer, a count or a float's bits. Register 0 is unused: as a result it means "none". Each slice of the batch has a
// register file of its own over its own buffers, so one list of instructions serves all threads. A checked instruction
// whose result is negative ends the step with that result.
// src/runtime/kernels/kernels.ts is the table of opcodes, src/runtime/backends/reference/program.ts the plain twin.
import { WORD } from "./units";
import {
  BATCH, BINDING, BINDINGS, BINDING_BYTES, BINDING_KIND, CAPTURE, CAPTURES, CAPTURE_BYTES, COMMAND_CAPACITY, CONTEXT,
  INSTRUCTION, STAGE, STAGE_BYTES, STAGE_KIND, STATUS,
} from "./generated/layouts";
import * as dense from "./dense";
import * as optim from "./optim";
import * as sparse from "./sparse";
import { host } from "./host";
import { barrier } from "./sync";
import { filterAsk, filterCount } from "./filter";
import { tableAdmit, tableApply, tableFind, tableRetrieve, tableTouch } from "./table";
import { traceNow, traceOn, traceSpan } from "./trace";

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
    default: return STATUS.kernel;
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

/** Where the register of this number is. */
@inline
function registerAt(registers: usize, number: u32): usize {
  return registers + (<usize>number << 2);
}

/** `trace` is 0 when the kernels of this step are not recorded: reading the clock around each would cost too much. */
function runCode(context: usize, code: usize, end: usize, registers: usize, trace: usize): i32 {
  let pc = code;
  const traced = traceOn(trace);
  let start = traceNow(trace);
  while (pc < end) {
    const head = load<u32>(pc, INSTRUCTION.head);
    const result = dispatch(head & 0xfff, pc + INSTRUCTION.operands, registers);
    const to = load<u32>(pc, INSTRUCTION.result);
    if (to != 0) store<i32>(registerAt(registers, to), result);
    if ((head >> 20) != 0 && result < 0) {
      store<u32>(context, load<u32>(pc, INSTRUCTION.traceName), CONTEXT.failedAt);
      store<i32>(context, result, CONTEXT.failedDetail);
      return STATUS.kernel;
    }
    if (traced) {
      const stop = traceNow(trace);
      traceSpan(trace, load<u32>(pc, INSTRUCTION.traceName), start, stop);
      start = stop;
    }
    pc += INSTRUCTION.operands + (<usize>((head >> 12) & 0xff) << 2);
  }
  return 0;
}

/** Points the feed registers of one slice at its part of a batch. */
export function bindBatch(
  context: usize, registers: usize, batch: usize, bindings: usize, slice: u32, sliceCount: u32,
): i32 {
  const rows = load<u32>(batch, BATCH.rows);
  const begin = <u32>(<u64>rows * slice / sliceCount);
  const count = <u32>(<u64>rows * (slice + 1) / sliceCount) - begin;
  if (count > load<u32>(bindings, BINDINGS.sliceRows)) {
    store<u32>(context, rows, CONTEXT.failedAt);
    return STATUS.batchRows;
  }
  store<u32>(registerAt(registers, load<u32>(bindings, BINDINGS.rows)), count);
  store<f32>(registerAt(registers, load<u32>(bindings, BINDINGS.inverseBatch)), rows == 0 ? 0 : <f32>1 / <f32>rows);
  const entries = load<u32>(bindings, BINDINGS.count);
  let entry = bindings + BINDINGS.entries;
  for (let i: u32 = 0; i < entries; i++, entry += BINDING_BYTES) {
    const kind = load<u32>(entry, BINDING.kind);
    if (kind >= BINDING_KIND.fixed) {
      const value = kind == BINDING_KIND.fixed
        ? load<u32>(entry, BINDING.pointer) + begin * load<u32>(entry, BINDING.size)
        : rows;
      store<u32>(registerAt(registers, load<u32>(entry, BINDING.register)), value);
      continue;
    }
    const pointer = <usize>load<u32>(batch + (<usize>load<u32>(entry, BINDING.pointer) << 2));
    if (kind == BINDING_KIND.dense) {
      const data = <u32>pointer + begin * load<u32>(entry, BINDING.size) + load<u32>(entry, BINDING.offset);
      store<u32>(registerAt(registers, load<u32>(entry, BINDING.register)), data);
      continue;
    }
    const splits = pointer + (<usize>begin << 2);
    const values = <usize>load<u32>(batch + (<usize>load<u32>(entry, BINDING.pointer) << 2), WORD);
    const first = load<u32>(splits);
    const valueCount = load<u32>(splits + (<usize>count << 2)) - first;
    if (valueCount > load<u32>(entry, BINDING.size)) {
      store<u32>(context, load<u32>(entry, BINDING.name), CONTEXT.failedAt);
      store<u32>(context, valueCount, CONTEXT.failedDetail);
      return STATUS.batchValues;
    }
    store<u32>(registerAt(registers, load<u32>(entry, BINDING.register)), <u32>splits);
    store<u32>(registerAt(registers, load<u32>(entry, BINDING.values)), <u32>(values + (<usize>first << 3)));
    store<u32>(registerAt(registers, load<u32>(entry, BINDING.valueCount)), valueCount);
  }
  return 0;
}

/** Keeps scalars of this thread's slices where the next step does not overwrite them. */
function capture(context: usize, command: i32): void {
  const captures = <usize>load<u32>(context, CONTEXT.captures);
  if (captures == 0) return;
  const count = load<u32>(captures, CAPTURES.count);
  const slices = <usize>load<u32>(context, CONTEXT.sliceCount);
  const begin = <usize>load<u32>(context, CONTEXT.sliceBegin), end = <usize>load<u32>(context, CONTEXT.sliceEnd);
  const place = <usize>(command & (COMMAND_CAPACITY - 1)) * <usize>load<u32>(captures, CAPTURES.commandBytes);
  let to = <usize>load<u32>(captures, CAPTURES.to) + place;
  for (let i: u32 = 0; i < count; i++, to += slices << 2) {
    const pair = captures + <usize>i * CAPTURE_BYTES;
    const from = <usize>load<u32>(pair, CAPTURES.pairs + CAPTURE.address);
    const stride = <usize>load<u32>(pair, CAPTURES.pairs + CAPTURE.sliceBytes);
    for (let s = begin; s < end; s++) store<f32>(to + (s << 2), load<f32>(from + s * stride));
  }
}

function bindSlices(context: usize, batch: usize): i32 {
  const registers = <usize>load<u32>(context, CONTEXT.sliceRegisters);
  const stride = <usize>load<u32>(context, CONTEXT.sliceRegistersStride);
  const bindings = <usize>load<u32>(context, CONTEXT.bindings);
  const end = load<u32>(context, CONTEXT.sliceEnd);
  for (let s = load<u32>(context, CONTEXT.sliceBegin); s < end; s++) {
    const at = registers + <usize>s * stride;
    const status = bindBatch(context, at, batch, bindings, s, load<u32>(context, CONTEXT.sliceCount));
    if (status != 0) return status;
  }
  return 0;
}

function runStage(context: usize, stage: usize, kernels: usize): i32 {
  const code = <usize>load<u32>(stage, STAGE.code);
  const codeEnd = <usize>load<u32>(stage, STAGE.codeEnd);
  if (load<u32>(stage, STAGE.kind) != STAGE_KIND.slices) {
    return runCode(context, code, codeEnd, <usize>load<u32>(context, CONTEXT.threadRegisters), kernels);
  }
  const registers = <usize>load<u32>(context, CONTEXT.sliceRegisters);
  const stride = <usize>load<u32>(context, CONTEXT.sliceRegistersStride);
  const end = load<u32>(context, CONTEXT.sliceEnd);
  for (let s = load<u32>(context, CONTEXT.sliceBegin); s < end; s++) {
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
  const control = <usize>load<u32>(context, CONTEXT.control);
  const threads = load<i32>(context, CONTEXT.threads);
  const trace = <usize>load<u32>(context, CONTEXT.trace);
  // The third command is among those recorded: short runs have one that is warm.
  const kernels = (<u32>(command ^ 3) & load<u32>(context, CONTEXT.traceKernels)) == 0 ? trace : 0;
  const waiting = load<u32>(context, CONTEXT.traceBarrier);
  const first = <usize>load<u32>(context, CONTEXT.stages);
  const end = <usize>load<u32>(context, CONTEXT.stagesEnd);
  // A moment ends one span and begins the next: the clock is read once for both.
  let from = traceNow(trace);
  if (batch != 0) {
    const status = bindSlices(context, batch);
    if (status != 0) return status;
  }
  for (let stage = first; stage < end; stage += STAGE_BYTES) {
    if (stage != first) {
      if (!barrier(control, threads, 0, true)) return STATUS.aborted;
      const open = traceNow(trace);
      traceSpan(trace, waiting, from, open);
      from = open;
    }
    const status = runStage(context, stage, kernels);
    if (status != 0) return status;
    const done = traceNow(trace);
    traceSpan(trace, load<u32>(stage, STAGE.traceName), from, done);
    from = done;
  }
  capture(context, command);
  const together = barrier(control, threads, command, quiet);
  traceSpan(trace, waiting, from, traceNow(trace));
  return together ? 0 : STATUS.aborted;
}
