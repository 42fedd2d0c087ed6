/** @file Multi-gate mixture of experts. */
import { checkOptions } from '../base/check-options.js';
import type { Tensor } from '../graph/graph.js';
import { softmax } from '../graph/ops/attention.js';
import { batchMatMul } from '../graph/ops/batch-matmul.js';
import { checkWhole } from '../graph/ops/inner-shape.js';
import { reshape, stack } from '../graph/ops/shape.js';
import type { LayerActivation } from './activation.js';
import { DenseLayer } from './dense-layer.js';
import { Layer, type LayerOptions } from './layer.js';
import { MlpLayer } from './mlp-layer.js';

export interface MmoeOptions extends LayerOptions {
  readonly experts: number;
  readonly tasks: number;
  /** Units of the layers of an expert. */
  readonly units: readonly number[];
  /** Of the layers of experts. Default: `relu`. */
  readonly activation?: LayerActivation;
}

/**
 * Experts that all tasks share, mixed for each task by a gate of its own: `[batch, d]` → `[batch, units.at(-1)]` per
 * task. Experts are MLPs called `expert_i`, gates dense layers called `gate_t` with a softmax over the experts.
 */
export class MmoeLayer extends Layer {
  readonly #experts: readonly MlpLayer[];
  readonly #gates: readonly DenseLayer[];

  constructor(options: MmoeOptions) {
    super('mmoe', options);
    checkOptions('nn.mmoe', options, ['name', 'seed', 'experts', 'tasks', 'units', 'activation']);
    const { name = 'mmoe', experts, tasks, units, activation = 'relu', seed = 0 } = options;
    checkWhole(name, 'the number of experts', experts);
    checkWhole(name, 'the number of tasks', tasks);
    this.#experts = Array.from(
      { length: experts },
      (_, i) => new MlpLayer(units, { name: `expert_${i}`, activation, outputActivation: activation, seed }),
    );
    this.#gates = Array.from({ length: tasks }, (_, t) => new DenseLayer(experts, { name: `gate_${t}`, seed }));
  }

  call(x: Tensor): Tensor[] {
    return this.within(x.graph, () => {
      const outputs = stack(
        this.#experts.map((expert) => expert.call(x)),
        { name: 'experts' },
      );
      const count = this.#experts.length;
      return this.#gates.map((gate) => {
        const weights = reshape(softmax(gate.call(x)), [1, count]);
        return reshape(batchMatMul(weights, outputs), [outputs.columns / count]);
      });
    });
  }
}

/** A mixture of experts that is called once, a result per task: see MmoeLayer. */
export function mmoe(x: Tensor, options: MmoeOptions): Tensor[] {
  return new MmoeLayer(options).call(x);
}
