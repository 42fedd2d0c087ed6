/** @file What a server counts, as Prometheus reads it. Hand-written because it is tiny. */

/** Upper bounds of latencies in seconds. */
const LATENCIES = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Upper bounds of rows in a batch. */
const BATCHES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

export type Labels = Readonly<Record<string, string>>;

class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    const index = this.#bounds.findIndex((bound) => value <= bound);
    if (index >= 0) this.#counts[index]!++;
    this.#sum += value;
    this.#count++;
  }

  lines(name: string, labels: Labels): string[] {
    let below = 0;
    const buckets = this.#bounds.map((bound, index) => {
      below += this.#counts[index]!;
      return `${name}_bucket${labelText({ ...labels, le: `${bound}` })} ${below}`;
    });
    return [
      ...buckets,
      `${name}_bucket${labelText({ ...labels, le: '+Inf' })} ${this.#count}`,
      `${name}_sum${labelText(labels)} ${this.#sum}`,
      `${name}_count${labelText(labels)} ${this.#count}`,
    ];
  }
}

interface Family {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
}

const FAMILIES = {
  monolith_requests_total: { type: 'counter', help: 'Requests answered, by call and status.' },
  monolith_request_seconds: { type: 'histogram', help: 'Time from a request to its answer.' },
  monolith_batch_rows: { type: 'histogram', help: 'Rows computed at once.' },
  monolith_rows_total: { type: 'counter', help: 'Rows scored.' },
  monolith_requests_open: { type: 'gauge', help: 'Requests that are not answered yet.' },
  monolith_ids_sampled_total: { type: 'counter', help: 'Ids of requests that were looked for in tables, a sample.' },
  monolith_ids_unknown_total: { type: 'counter', help: 'Those of them that have no row.' },
  monolith_reloads_total: { type: 'counter', help: 'Versions taken, and versions refused.' },
  monolith_version: { type: 'gauge', help: 'The version in use.' },
  monolith_deltas_total: { type: 'counter', help: 'Deltas of a run that were applied, and that were not.' },
  monolith_delta_sequence: { type: 'gauge', help: 'The newest delta applied.' },
  process_resident_memory_bytes: { type: 'gauge', help: 'Memory of the process.' },
} as const satisfies Readonly<Record<string, Family>>;

export type MetricName = keyof typeof FAMILIES;

/** Counters, gauges and histograms by name and labels. */
export class ServeMetrics {
  readonly #numbers = new Map<MetricName, Map<string, number>>();
  readonly #histograms = new Map<MetricName, Map<string, { readonly labels: Labels; readonly values: Histogram }>>();

  add(name: MetricName, labels: Labels = {}, by = 1): void {
    const values = this.#of(name);
    const key = labelText(labels);
    values.set(key, (values.get(key) ?? 0) + by);
  }

  set(name: MetricName, labels: Labels, value: number): void {
    this.#of(name).set(labelText(labels), value);
  }

  observe(name: 'monolith_request_seconds' | 'monolith_batch_rows', labels: Labels, value: number): void {
    let family = this.#histograms.get(name);
    if (family === undefined) {
      family = new Map();
      this.#histograms.set(name, family);
    }
    const key = labelText(labels);
    let found = family.get(key);
    if (found === undefined) {
      found = { labels, values: new Histogram(name === 'monolith_batch_rows' ? BATCHES : LATENCIES) };
      family.set(key, found);
    }
    found.values.observe(value);
  }

  /** Value of a counter or a gauge. */
  value(name: MetricName, labels: Labels = {}): number {
    return this.#numbers.get(name)?.get(labelText(labels)) ?? 0;
  }

  text(): string {
    this.set('process_resident_memory_bytes', {}, process.memoryUsage.rss());
    const lines: string[] = [];
    for (const [name, { type, help }] of Object.entries(FAMILIES) as [MetricName, Family][]) {
      const numbers = [...(this.#numbers.get(name) ?? [])].map(([labels, value]) => `${name}${labels} ${value}`);
      const rows = [...(this.#histograms.get(name)?.values() ?? [])].flatMap(({ labels, values }) =>
        values.lines(name, labels),
      );
      if (numbers.length + rows.length === 0) continue;
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...numbers, ...rows);
    }
    return `${lines.join('\n')}\n`;
  }

  #of(name: MetricName): Map<string, number> {
    let values = this.#numbers.get(name);
    if (values === undefined) {
      values = new Map();
      this.#numbers.set(name, values);
    }
    return values;
  }
}

/** Texts of labels that are kept, so that what is counted with each request is written once. */
const texts = new WeakMap<Labels, string>();

function labelText(labels: Labels): string {
  const known = texts.get(labels);
  if (known !== undefined) return known;
  const made = writtenLabels(labels);
  texts.set(labels, made);
  return made;
}

function writtenLabels(labels: Labels): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return parts.length === 0 ? '' : `{${parts.join(',')}}`;
}

const escaped = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
