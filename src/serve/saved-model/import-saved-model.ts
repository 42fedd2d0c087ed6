/**
 * @file An exported SavedModel opened to infer with, as the reference's Estimator does. The graph of the file is not
 * executed: the native model beside it computes the same, and nothing in the folder is code.
 */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { MonolithError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import { weightsOf } from '../../data/schema.js';
import type { ImportedModel, ImportOptions } from '../../train/exporter.js';
import type { EncodedChunk } from '../chunks.js';
import { type LoadedModel, openModel } from '../loaded-model.js';
import { isNativeModel } from '../native/read-native.js';
import { rowOfExample } from '../online/asked-rows.js';
import { newestVersion } from '../versions.js';

const SIGNATURES = ['serving_default', 'raw'] as const;
const SAVED_MODEL_FILE = 'saved_model.pb';

/** Opens the newest version in `path`, or `path` itself when it is one. ML_NO_MODELS where there is none. */
export async function importSavedModel(path: string, options: ImportOptions): Promise<ImportedModel> {
  const { inputName = 'instances', outputName, signature } = options;
  const isModel = (dir: string) => isNativeModel(dir) || existsSync(join(dir, SAVED_MODEL_FILE));
  const folder = await newestVersion(path, isModel);
  const asked = signature ?? SIGNATURES[0];
  const known = SIGNATURES.find((one) => one === asked);
  if (known === undefined) {
    throw unknown(
      'signature',
      `there is no signature ${asked}`,
      didYouMean(asked, SIGNATURES) ?? SIGNATURES.join(', '),
    );
  }
  if (!isNativeModel(folder)) {
    const reason = `graphs of ${SAVED_MODEL_FILE} are not executed, and no model.json is beside it`;
    const hint = "export with formats: ['native', 'savedModel']";
    throw new MonolithError('ML_MODEL', { model: basename(folder), reason }, { hint });
  }
  const model = await openModel(folder, {});
  try {
    return new Imported(model, known, inputName, outputName);
  } catch (error) {
    await model.close();
    throw error;
  }
}

const unknown = (option: string, reason: string, hint: string) =>
  new MonolithError('ML_OPTION', { where: 'importSavedModel', option, reason }, { hint });

/** Numbers that are fed as they are: those a signature `raw` takes. */
type RawInputs = Readonly<Record<string, ArrayLike<number | bigint> | number>>;

class Imported implements ImportedModel {
  readonly #model: LoadedModel;
  readonly #signature: (typeof SIGNATURES)[number];
  readonly #input: string;
  readonly #outputs: ReadonlyMap<string, number>;

  constructor(model: LoadedModel, signature: (typeof SIGNATURES)[number], input: string, output: string | undefined) {
    const { heads } = model;
    const named = new Map(heads.map(({ name }, index) => [heads.length === 1 ? 'output' : name, index] as const));
    if (output !== undefined && !named.has(output)) {
      const names = [...named.keys()];
      throw unknown('outputName', `there is no output ${output}`, didYouMean(output, names) ?? names.join(', '));
    }
    if (signature === 'serving_default' && input !== 'instances') {
      throw unknown('inputName', `there is no input ${input}`, 'serving_default has instances');
    }
    this.#model = model;
    this.#signature = signature;
    this.#input = input;
    this.#outputs = output === undefined ? named : new Map([[output, named.get(output)!]]);
  }

  async infer(features: unknown): Promise<Readonly<Record<string, Float32Array>>> {
    const values = this.#signature === 'raw' ? await this.#raw(features as RawInputs) : await this.#examples(features);
    return Object.fromEntries([...this.#outputs].map(([name, head]) => [name, values[head]!]));
  }

  /** Serialized tf.Examples or rows: by the name of the input, or as they are. */
  async #examples(features: unknown): Promise<Float32Array[]> {
    const list = Array.isArray(features) ? features : (features as Readonly<Record<string, unknown>>)?.[this.#input];
    if (!Array.isArray(list)) {
      const reason = 'a list of serialized examples is needed';
      throw new MonolithError('ML_FEED', { name: this.#input, reason }, { hint: 'rows of objects are taken too' });
    }
    const rows = list.map((one: unknown, index) =>
      one instanceof Uint8Array ? rowOfExample(one, `${this.#input}[${index}]`) : (one as object),
    );
    return this.#scored(this.#model.encoded(rows, true), rows.length);
  }

  /** The tensors that examples are parsed to. */
  #raw(inputs: RawInputs): Promise<Float32Array[]> {
    const size = Number(inputs.batch_size);
    if (!(Number.isInteger(size) && size > 0)) {
      throw new MonolithError('ML_FEED', { name: 'batch_size', reason: `${size} is no number of examples` });
    }
    const feeds: Record<string, Float32Array | BigInt64Array | { splits: Int32Array; values: BigInt64Array }> = {};
    for (const [name, feature] of Object.entries(this.#model.schema.features)) {
      if (feature.kind === 'ragged') {
        feeds[name] = raggedOf(inputs, name, size);
        if (feature.weighted) feeds[weightsOf(name)] = Float32Array.from(listOf(inputs, weightsOf(name)), Number);
      } else if (feature.kind === 'dense') feeds[name] = Float32Array.from(listOf(inputs, name), Number);
      else if (inputs[name] !== undefined) feeds[name] = BigInt64Array.from(listOf(inputs, name), BigInt);
    }
    return this.#scored([{ feeds, count: size }], size);
  }

  async #scored(chunks: Iterable<EncodedChunk>, rows: number): Promise<Float32Array[]> {
    const all = this.#model.heads.map(({ width }) => new Float32Array(width * rows));
    let at = 0;
    for (const chunk of chunks) {
      const values = await this.#model.score(chunk);
      for (const [head, { width }] of this.#model.heads.entries()) all[head]!.set(values[head]!, at * width);
      at += chunk.count;
    }
    return all;
  }

  close(): Promise<void> {
    return this.#model.close();
  }
}

function listOf(inputs: RawInputs, name: string): ArrayLike<number | bigint> {
  const value = inputs[name];
  if (typeof value === 'object' && 'length' in value) return value;
  throw new MonolithError('ML_FEED', { name, reason: 'a list of its values is needed' });
}

/** Ids with the example of each, in the order of examples. */
function raggedOf(inputs: RawInputs, name: string, rows: number) {
  const indices = listOf(inputs, `${name}_indices`);
  const values = BigInt64Array.from(listOf(inputs, `${name}_values`), BigInt);
  const refuse = (reason: string) => new MonolithError('ML_FEED', { name: `${name}_indices`, reason });
  if (indices.length !== 2 * values.length) throw refuse(`${indices.length} are not two for each of ${values.length}`);
  const splits = new Int32Array(rows + 1);
  let before = 0;
  for (let at = 0; at < values.length; at++) {
    const row = Number(indices[2 * at]);
    if (!(Number.isInteger(row) && row >= before && row < rows))
      throw refuse(`${row} is no example of ${rows}, in order`);
    before = row;
    splits[row + 1]!++;
  }
  for (let row = 0; row < rows; row++) splits[row + 1]! += splits[row]!;
  return { splits, values };
}
