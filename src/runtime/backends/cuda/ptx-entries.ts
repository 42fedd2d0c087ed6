/**
 * @file Reads the parameter lists of the kernels of a PTX module, so that launches can be checked against them.
 *
 * Only `.entry` headers are read. The driver reads the rest.
 */

export type PtxKind = 'u' | 's' | 'b' | 'f';

/** One parameter of a kernel. */
export interface PtxParam {
  readonly name: string;
  readonly kind: PtxKind;
  /** Bytes of one element. */
  readonly elementSize: number;
  /** Bytes of the parameter: more than elementSize for an array, which is how structures arrive. */
  readonly size: number;
  /** Where it begins in the argument buffer. */
  readonly offset: number;
}

export interface PtxEntry {
  readonly name: string;
  readonly params: readonly PtxParam[];
  /** Bytes of the argument buffer. */
  readonly paramSize: number;
  /** Most threads of a block, of `.maxntid` or `.reqntid`; 1024 when not said. */
  readonly threadsMax: number;
}

const ENTRY = /\.entry\s+([\w$%]+)\s*(?:\(([^)]*)\))?([^{;]*)[{;]/g;
const PARAM = /^\.param\s+(?<words>(?:\.\w+\s+(?:\d+\s+)?)*)(?<name>[\w$%]+)\s*(?:\[\s*(?<count>\d+)\s*\])?$/;
const TYPE = /\.([usbf])(8|16|32|64)\b/;

/** The kernels of a module, by name. Throws a SyntaxError for a parameter it cannot read. */
export function parseEntries(ptx: string): ReadonlyMap<string, PtxEntry> {
  const text = ptx.replace(/\/\*[\s\S]*?\*\//g, ' ').replace(/\/\/[^\n]*/g, '');
  const entries = new Map<string, PtxEntry>();
  for (const [, name, list, directives] of text.matchAll(ENTRY)) {
    const params: PtxParam[] = [];
    let offset = 0;
    for (const part of (list ?? '').split(',')) {
      if (part.trim() === '') continue;
      const param = parseParam(part.trim(), offset);
      params.push(param);
      offset = param.offset + param.size;
    }
    entries.set(name!, { name: name!, params, paramSize: offset, threadsMax: threadsMaxOf(directives!) });
  }
  return entries;
}

function parseParam(text: string, end: number): PtxParam {
  const found = PARAM.exec(text.replace(/\s+/g, ' '))?.groups;
  const type = TYPE.exec(found?.words ?? '');
  if (found === undefined || type === null) throw new SyntaxError(`parameter "${text}" cannot be read`);
  const elementSize = Number(type[2]) / 8;
  // `.ptr .align n` tells of what a pointer points to; only an `.align` before the type is of the parameter itself.
  const own = found.words!.slice(0, found.words!.indexOf(type[0]!));
  const align = Math.max(elementSize, Number(/\.align\s+(\d+)/.exec(own)?.[1] ?? 1));
  const offset = Math.ceil(end / align) * align;
  const size = elementSize * Number(found.count ?? 1);
  return { name: found.name!, kind: type[1] as PtxKind, elementSize, size, offset };
}

function threadsMaxOf(directives: string): number {
  const list = /\.(?:maxntid|reqntid)\s+(\d+(?:\s*,\s*\d+)*)/.exec(directives)?.[1];
  return list === undefined ? 1024 : list.split(',').reduce((product, dim) => product * Number(dim), 1);
}
