// Calls the kernel of an opcode with the values of its operands' registers. Written by generate-dispatch.mjs from
// src/runtime/kernels: do not edit.
import * as counts from "../counts";
import * as dense from "../dense";
import * as filter from "../filter";
import * as optim from "../optim";
import * as sparse from "../sparse";
import * as table from "../table";
import { host } from "../host";
import { STATUS } from "./layouts";

@inline
function u(operands: usize, registers: usize, i: usize): u32 {
  return load<u32>(registers + (<usize>load<u32>(operands + (i << 2)) << 2));
}

@inline
function f(operands: usize, registers: usize, i: usize): f32 {
  return load<f32>(registers + (<usize>load<u32>(operands + (i << 2)) << 2));
}

/** `o` is where the numbers of the operands' registers are, `r` where the registers are. */
export function dispatch(opcode: u32, o: usize, r: usize): i32 {
  switch (opcode) {
    case 1: // copyRowsF32
      dense.copyRowsF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6));
      return 0;
    case 2: // subF32
      dense.subF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7),
        u(o, r, 8));
      return 0;
    case 3: // mulF32
      dense.mulF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7),
        u(o, r, 8));
      return 0;
    case 4: // scaleF32
      dense.scaleF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), f(o, r, 6), u(o, r, 7));
      return 0;
    case 5: // addBiasF32
      dense.addBiasF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6));
      return 0;
    case 6: // scaleColumnsF32
      dense.scaleColumnsF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7));
      return 0;
    case 7: // scaleRowsF32
      dense.scaleRowsF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7),
        u(o, r, 8));
      return 0;
    case 8: // broadcastScalarF32
      dense.broadcastScalarF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), f(o, r, 5), u(o, r, 6));
      return 0;
    case 9: // broadcastF32
      dense.broadcastF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), f(o, r, 7),
        u(o, r, 8));
      return 0;
    case 10: // binaryF32
      dense.binaryF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7),
        u(o, r, 8), u(o, r, 9), u(o, r, 10));
      return 0;
    case 11: // unaryF32
      dense.unaryF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6));
      return 0;
    case 12: // divideByScalarF32
      dense.divideByScalarF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7));
      return 0;
    case 13: // castI64F32
      dense.castI64F32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5));
      return 0;
    case 14: // dropoutF32
      dense.dropoutF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7),
        u(o, r, 8), u(o, r, 9), f(o, r, 10), u(o, r, 11));
      return 0;
    case 15: // reluF32
      dense.reluF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5));
      return 0;
    case 16: // reluGradF32
      dense.reluGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7),
        u(o, r, 8));
      return 0;
    case 17: // biasReluF32
      dense.biasReluF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6));
      return 0;
    case 18: // sigmoidF32
      dense.sigmoidF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5));
      return 0;
    case 19: // sigmoidGradF32
      dense.sigmoidGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), u(o, r, 8));
      return 0;
    case 20: // tanhF32
      dense.tanhF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5));
      return 0;
    case 21: // tanhGradF32
      dense.tanhGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7),
        u(o, r, 8));
      return 0;
    case 22: // geluF32
      dense.geluF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5));
      return 0;
    case 23: // geluGradF32
      dense.geluGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7),
        u(o, r, 8));
      return 0;
    case 24: // geluTanhF32
      dense.geluTanhF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5));
      return 0;
    case 25: // geluTanhGradF32
      dense.geluTanhGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), u(o, r, 8));
      return 0;
    case 26: // swishF32
      dense.swishF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5));
      return 0;
    case 27: // swishGradF32
      dense.swishGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7),
        u(o, r, 8));
      return 0;
    case 28: // softplusF32
      dense.softplusF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5));
      return 0;
    case 29: // softplusGradF32
      dense.softplusGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), u(o, r, 8));
      return 0;
    case 30: // leakyReluF32
      dense.leakyReluF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), f(o, r, 6));
      return 0;
    case 31: // leakyReluGradF32
      dense.leakyReluGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), f(o, r, 8), u(o, r, 9));
      return 0;
    case 32: // preluF32
      dense.preluF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6));
      return 0;
    case 33: // preluGradF32
      dense.preluGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7),
        u(o, r, 8), u(o, r, 9));
      return 0;
    case 34: // preluSlopeGradF32
      dense.preluSlopeGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6));
      return 0;
    case 35: // layerNormF32
      dense.layerNormF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7),
        u(o, r, 8), f(o, r, 9));
      return 0;
    case 36: // layerNormGradF32
      dense.layerNormGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), u(o, r, 8), u(o, r, 9), u(o, r, 10));
      return 0;
    case 37: // layerNormGainGradF32
      dense.layerNormGainGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7));
      return 0;
    case 38: // l2NormalizeF32
      dense.l2NormalizeF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), f(o, r, 6));
      return 0;
    case 39: // l2NormalizeGradF32
      dense.l2NormalizeGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), f(o, r, 8), u(o, r, 9));
      return 0;
    case 40: // bceLogitsF32
      dense.bceLogitsF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6));
      return 0;
    case 41: // bceLogitsGradF32
      dense.bceLogitsGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), u(o, r, 8), u(o, r, 9));
      return 0;
    case 42: // weightedBceF32
      dense.weightedBceF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        f(o, r, 7), f(o, r, 8));
      return 0;
    case 43: // weightedBceGradF32
      dense.weightedBceGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), u(o, r, 8), f(o, r, 9), f(o, r, 10), u(o, r, 11));
      return 0;
    case 44: // hingeF32
      dense.hingeF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6));
      return 0;
    case 45: // hingeGradF32
      dense.hingeGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7),
        u(o, r, 8), u(o, r, 9));
      return 0;
    case 46: // focalF32
      dense.focalF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), f(o, r, 7),
        f(o, r, 8), f(o, r, 9));
      return 0;
    case 47: // focalGradF32
      dense.focalGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7),
        u(o, r, 8), f(o, r, 9), f(o, r, 10), f(o, r, 11), u(o, r, 12));
      return 0;
    case 48: // softmaxLossF32
      dense.softmaxLossF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), u(o, r, 8));
      return 0;
    case 49: // softmaxLossGradF32
      dense.softmaxLossGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), u(o, r, 8), u(o, r, 9), u(o, r, 10), u(o, r, 11));
      return 0;
    case 50: // inbatchAucF32
      dense.inbatchAucF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5));
      return 0;
    case 51: // inbatchAucGradF32
      dense.inbatchAucGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), f(o, r, 6),
        u(o, r, 7), u(o, r, 8), u(o, r, 9));
      return 0;
    case 52: // inbatchSoftmaxF32
      dense.inbatchSoftmaxF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), u(o, r, 8), u(o, r, 9), u(o, r, 10));
      return 0;
    case 53: // inbatchSoftmaxGradF32
      dense.inbatchSoftmaxGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), u(o, r, 8), u(o, r, 9), u(o, r, 10), u(o, r, 11), u(o, r, 12));
      return 0;
    case 54: // gemmF32
      dense.gemmF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7),
        u(o, r, 8), u(o, r, 9), u(o, r, 10), u(o, r, 11), u(o, r, 12));
      return 0;
    case 55: // gemmRepeatsF32
      dense.gemmRepeatsF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), u(o, r, 8), u(o, r, 9), u(o, r, 10), u(o, r, 11), u(o, r, 12));
      return 0;
    case 56: // gemmRepeatsGradF32
      dense.gemmRepeatsGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), u(o, r, 8), u(o, r, 9), u(o, r, 10), u(o, r, 11), u(o, r, 12), u(o, r, 13), u(o, r, 14),
        u(o, r, 15), u(o, r, 16), u(o, r, 17));
      return 0;
    case 57: // batchMatMulF32
      dense.batchMatMulF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), u(o, r, 8));
      return 0;
    case 58: // rowDotF32
      dense.rowDotF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7),
        u(o, r, 8));
      return 0;
    case 59: // fmPairsF32
      dense.fmPairsF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7));
      return 0;
    case 60: // fmPairsGradF32
      dense.fmPairsGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), u(o, r, 8), u(o, r, 9));
      return 0;
    case 61: // pairProductsF32
      dense.pairProductsF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), u(o, r, 8), u(o, r, 9), u(o, r, 10));
      return 0;
    case 62: // pairProductsGradF32
      dense.pairProductsGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), u(o, r, 8), u(o, r, 9), u(o, r, 10), u(o, r, 11), u(o, r, 12));
      return 0;
    case 63: // cinF32
      dense.cinF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7),
        u(o, r, 8), u(o, r, 9), u(o, r, 10), u(o, r, 11), u(o, r, 12), u(o, r, 13));
      return 0;
    case 64: // cinGradF32
      dense.cinGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7),
        u(o, r, 8), u(o, r, 9), u(o, r, 10), u(o, r, 11), u(o, r, 12), u(o, r, 13), u(o, r, 14), u(o, r, 15),
        u(o, r, 16), u(o, r, 17), u(o, r, 18), u(o, r, 19));
      return 0;
    case 65: // multiplyU32
      return <i32>dense.multiplyU32(u(o, r, 0), u(o, r, 1));
    case 66: // sumRowsF32
      dense.sumRowsF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5));
      return 0;
    case 67: // sumF32
      dense.sumF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), f(o, r, 5));
      return 0;
    case 68: // sumColumnsF32
      dense.sumColumnsF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), f(o, r, 6));
      return 0;
    case 69: // maxColumnsF32
      dense.maxColumnsF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5));
      return 0;
    case 70: // maxRowsF32
      dense.maxRowsF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4));
      return 0;
    case 71: // reduceSlicesF32
      dense.reduceSlicesF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4));
      return 0;
    case 72: // sumSquaresF64
      dense.sumSquaresF64(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3));
      return 0;
    case 73: // rootOfSumF32
      dense.rootOfSumF32(u(o, r, 0), u(o, r, 1), u(o, r, 2));
      return 0;
    case 74: // clipToNormF32
      dense.clipToNormF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), f(o, r, 4));
      return 0;
    case 75: // clipValueF32
      optim.clipValueF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), f(o, r, 3), f(o, r, 4));
      return 0;
    case 76: // clipRowsToNormF32
      optim.clipRowsToNormF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        f(o, r, 7));
      return 0;
    case 77: // sumF64
      optim.sumF64(u(o, r, 0), u(o, r, 1), u(o, r, 2));
      return 0;
    case 78: // rowSquaresF64
      optim.rowSquaresF64(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4));
      return 0;
    case 79: // copyBlocksF32
      dense.copyBlocksF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), u(o, r, 8), u(o, r, 9));
      return 0;
    case 80: // transposeInnerF32
      dense.transposeInnerF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), u(o, r, 8));
      return 0;
    case 81: // gatherInnerF32
      dense.gatherInnerF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), u(o, r, 8), u(o, r, 9), u(o, r, 10));
      return 0;
    case 82: // scatterInnerF32
      dense.scatterInnerF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), u(o, r, 8), u(o, r, 9), u(o, r, 10));
      return 0;
    case 83: // sumInnerF32
      dense.sumInnerF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7),
        f(o, r, 8), u(o, r, 9));
      return 0;
    case 84: // broadcastInnerF32
      dense.broadcastInnerF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), f(o, r, 8), u(o, r, 9));
      return 0;
    case 85: // maxInnerF32
      dense.maxInnerF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7),
        u(o, r, 8));
      return 0;
    case 86: // maxInnerGradF32
      dense.maxInnerGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), u(o, r, 8), u(o, r, 9), u(o, r, 10), u(o, r, 11), u(o, r, 12));
      return 0;
    case 87: // addSharedF32
      dense.addSharedF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7),
        u(o, r, 8));
      return 0;
    case 88: // mulSharedF32
      dense.mulSharedF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7),
        u(o, r, 8));
      return 0;
    case 89: // sumSharedF32
      dense.sumSharedF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7));
      return 0;
    case 90: // scaleGroupsF32
      dense.scaleGroupsF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), u(o, r, 8), u(o, r, 9));
      return 0;
    case 91: // groupDotF32
      dense.groupDotF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7),
        u(o, r, 8), u(o, r, 9));
      return 0;
    case 92: // softmaxF32
      dense.softmaxF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7),
        u(o, r, 8), u(o, r, 9));
      return 0;
    case 93: // softmaxGradF32
      dense.softmaxGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), u(o, r, 8), u(o, r, 9));
      return 0;
    case 94: // topKF32
      dense.topKF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7),
        u(o, r, 8), u(o, r, 9));
      return 0;
    case 95: // topKGradF32
      dense.topKGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7),
        u(o, r, 8), u(o, r, 9), u(o, r, 10));
      return 0;
    case 96: // applySgdF32
      dense.applySgdF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), f(o, r, 3));
      return 0;
    case 97: // applyAdagradF32
      dense.applyAdagradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), f(o, r, 4), f(o, r, 5));
      return 0;
    case 98: // applyFtrlF32
      dense.applyFtrlF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), f(o, r, 5), f(o, r, 6), f(o, r, 7),
        f(o, r, 8));
      return 0;
    case 99: // applyStandardFtrlF32
      optim.applyStandardFtrlF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), f(o, r, 5), f(o, r, 6),
        f(o, r, 7), f(o, r, 8));
      return 0;
    case 100: // applyDenseMomentumF32
      optim.applyDenseMomentumF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), f(o, r, 4), f(o, r, 5), u(o, r, 6));
      return 0;
    case 101: // applyDenseAdamF32
      optim.applyDenseAdamF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), f(o, r, 5), u(o, r, 6),
        u(o, r, 7), f(o, r, 8), f(o, r, 9), f(o, r, 10), f(o, r, 11), u(o, r, 12));
      return 0;
    case 102: // applyAdamomF32
      optim.applyAdamomF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), f(o, r, 6),
        f(o, r, 7), f(o, r, 8), f(o, r, 9), f(o, r, 10), u(o, r, 11), u(o, r, 12));
      return 0;
    case 103: // applyDenseRmspropF32
      optim.applyDenseRmspropF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), f(o, r, 5), f(o, r, 6),
        f(o, r, 7), f(o, r, 8), f(o, r, 9), u(o, r, 10));
      return 0;
    case 104: // applyShampooF32
      optim.applyShampooF32(u(o, r, 0), f(o, r, 1), u(o, r, 2));
      return 0;
    case 105: // addCountI64
      counts.addCountI64(u(o, r, 0), u(o, r, 1));
      return 0;
    case 106: // sumI64
      counts.sumI64(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3));
      return 0;
    case 107: // maxI64
      counts.maxI64(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3));
      return 0;
    case 108: // addSlicesI64
      counts.addSlicesI64(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3));
      return 0;
    case 109: // latestOfSlices
      return <i32>counts.latestOfSlices(u(o, r, 0), u(o, r, 1), u(o, r, 2));
    case 110: // advanceGeneration
      return <i32>counts.advanceGeneration(u(o, r, 0), u(o, r, 1), u(o, r, 2));
    case 111: // shareOf
      return <i32>counts.shareOf(u(o, r, 0), u(o, r, 1), u(o, r, 2));
    case 112: // shareAt
      return <i32>counts.shareAt(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4));
    case 113: // uniqueI64
      return <i32>sparse.uniqueI64(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7));
    case 114: // uniqueColumnsI64
      return <i32>sparse.uniqueColumnsI64(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5),
        u(o, r, 6), u(o, r, 7), u(o, r, 8), u(o, r, 9), u(o, r, 10));
    case 115: // countInverseU32
      sparse.countInverseU32(u(o, r, 0), u(o, r, 1), u(o, r, 2));
      return 0;
    case 116: // countColumnsU32
      sparse.countColumnsU32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3));
      return 0;
    case 117: // partitionByHash
      sparse.partitionByHash(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4));
      return 0;
    case 118: // numberRepeatsU32
      sparse.numberRepeatsU32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), u(o, r, 8));
      return 0;
    case 119: // zeroRowsF32
      sparse.zeroRowsF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3));
      return 0;
    case 120: // poolSumF32
      sparse.poolSumF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6));
      return 0;
    case 121: // poolMeanF32
      sparse.poolMeanF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6));
      return 0;
    case 122: // scatterAddF32
      sparse.scatterAddF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), u(o, r, 8));
      return 0;
    case 123: // scatterMeanF32
      sparse.scatterMeanF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), u(o, r, 8));
      return 0;
    case 124: // seqMaskF32
      sparse.seqMaskF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4));
      return 0;
    case 125: // firstNF32
      sparse.firstNF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6), u(o, r, 7));
      return 0;
    case 126: // firstNGradF32
      sparse.firstNGradF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7), u(o, r, 8), u(o, r, 9));
      return 0;
    case 127: // gatherSlicesF32
      sparse.gatherSlicesF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5));
      return 0;
    case 128: // scatterSlicesF32
      sparse.scatterSlicesF32(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7));
      return 0;
    case 129: // tableFind
      return <i32>table.tableFind(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4));
    case 130: // tableRetrieve
      return <i32>table.tableRetrieve(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5));
    case 131: // tableApply
      return <i32>table.tableApply(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6));
    case 132: // tableAdmit
      return <i32>table.tableAdmit(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4));
    case 133: // tableTouch
      return <i32>table.tableTouch(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6),
        u(o, r, 7));
    case 134: // routeGroups
      table.routeGroups(u(o, r, 0), u(o, r, 1), u(o, r, 2));
      return 0;
    case 135: // routeIds
      table.routeIds(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3));
      return 0;
    case 136: // rowsOfRoute
      table.rowsOfRoute(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4));
      return 0;
    case 137: // mergeRoute
      table.mergeRoute(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3));
      return 0;
    case 138: // countsOfRoute
      table.countsOfRoute(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3));
      return 0;
    case 139: // filterAsk
      filter.filterAsk(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5));
      return 0;
    case 140: // filterCount
      filter.filterCount(u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4));
      return 0;
    case 141: // bankedFind
      return host(141, u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), 0);
    case 142: // bankedApply
      return host(142, u(o, r, 0), u(o, r, 1), u(o, r, 2), u(o, r, 3), u(o, r, 4), u(o, r, 5), u(o, r, 6));
    case 143: // copyPieces
      return <i32>sparse.copyPieces(u(o, r, 0), u(o, r, 1));
    case 144: // copyMatrices
      return <i32>sparse.copyMatrices(u(o, r, 0), u(o, r, 1));
    default:
      return STATUS.kernel;
  }
}
