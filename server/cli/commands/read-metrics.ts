/** One scrape of `/metrics`, and its time (monotonic, milliseconds). */
export interface Scrape {
  at: number;
  samples: readonly Sample[];
}

interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** Parses the part of Prometheus' text format that the server uses. */
export function parseMetrics(text: string): Sample[] {
  return text.split("\n").flatMap((line) => {
    const [, name, labels = "", value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined) return [];
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map((pair) => pair.slice(1));
    return [{ name, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) }];
  });
}

type Labels = Record<string, string>;

const matches = (sample: Sample, name: string, labels: Labels): boolean =>
  sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value);

/** Returns the sum of a metric over all series with these labels. */
export const sumOf = ({ samples }: Scrape, name: string, labels: Labels = {}): number =>
  samples.reduce((sum, sample) => (matches(sample, name, labels) ? sum + sample.value : sum), 0);

/** Returns a counter's growth per second between two scrapes. */
export const rateOf = (from: Scrape, to: Scrape, name: string, labels?: Labels): number =>
  (sumOf(to, name, labels) - sumOf(from, name, labels)) / ((to.at - from.at) / 1000);

/** Returns a quantile of a histogram's growth between two scrapes, as its bucket's upper bound; null without growth. */
export function quantileOf(from: Scrape, to: Scrape, name: string, quantile: number): number | null {
  const buckets = to.samples.filter((one) => one.name === `${name}_bucket`);
  const bounds = [...new Set(buckets.flatMap(({ labels }) => labels.le ?? []))];
  const counts = bounds
    .map((le) => ({ le: le === "+Inf" ? Number.POSITIVE_INFINITY : Number(le), label: le }))
    .sort((a, b) => a.le - b.le)
    .map(({ le, label }) => {
      const bucketSum = (scrape: Scrape) => sumOf(scrape, `${name}_bucket`, { le: label });
      return { le, n: bucketSum(to) - bucketSum(from) };
    });
  const all = counts.at(-1)?.n ?? 0;
  if (all === 0) return null;
  return counts.find(({ n }) => n >= quantile * all)?.le ?? null;
}
