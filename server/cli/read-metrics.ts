/** One scrape of `/metrics`, and when it was made (monotonic, milliseconds). */
export interface Scrape {
  at: number;
  samples: readonly Sample[];
}

interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** Prometheus' text format, as far as the server writes it. */
export function parseMetrics(text: string): Sample[] {
  return text.split("\n").flatMap((line) => {
    const [, name, labels = "", value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined) return [];
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, text]) => [key!, text!]);
    return [{ name, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) }];
  });
}

type Labels = Record<string, string>;

const matches = (sample: Sample, name: string, labels: Labels): boolean =>
  sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value);

/** The sum of a metric over all series that have these labels. */
export const sumOf = ({ samples }: Scrape, name: string, labels: Labels = {}): number =>
  samples.reduce((sum, sample) => (matches(sample, name, labels) ? sum + sample.value : sum), 0);

/** How much a counter grew between two scrapes, a second. */
export const rateOf = (from: Scrape, to: Scrape, name: string, labels?: Labels): number =>
  (sumOf(to, name, labels) - sumOf(from, name, labels)) / ((to.at - from.at) / 1000);

/** The quantile of what a histogram got between two scrapes; null where it got nothing. Of a bucket, its upper bound. */
export function quantileOf(from: Scrape, to: Scrape, name: string, quantile: number): number | null {
  const bounds = [...new Set(to.samples.flatMap((one) => (one.name === `${name}_bucket` ? [one.labels.le!] : [])))];
  const counts = bounds
    .map((le) => ({ le: le === "+Inf" ? Number.POSITIVE_INFINITY : Number(le), label: le }))
    .sort((a, b) => a.le - b.le)
    .map(({ le, label }) => {
      const of = (scrape: Scrape) => sumOf(scrape, `${name}_bucket`, { le: label });
      return { le, n: of(to) - of(from) };
    });
  const all = counts.at(-1)?.n ?? 0;
  if (all === 0) return null;
  return counts.find(({ n }) => n >= quantile * all)!.le;
}
