/** The labels of a series: a value for each name that the metric was declared with. */
type Labels<Label extends string> = Readonly<Record<Label, string | number>>;

interface Declared<Label extends string> {
  name: string;
  help: string;
  labelNames: readonly Label[];
}

/** A series' labels where the metric has any, and a number. */
type Given<Label extends string> = [Label] extends [never] ? [number?] : [labels: Labels<Label>, number?: number];

/** What grows, and what stands where it stands. */
interface Values<Label extends string> {
  /** By one, where no number is given. */
  inc(...given: Given<Label>): void;
  set(...given: Given<Label>): void;
}

/** Values, counted by how large they are. */
interface Histogram<Label extends string> {
  observe(...given: Given<Label>): void;
}

/**
 * Metrics, and their text as Prometheus reads it (format 0.0.4). Counting is part of every request and of every entry of a
 * journal: it finds its series by one name, and makes no object.
 */
export function createRegistry() {
  const metrics: (() => string)[] = [];

  function values<Label extends string>(type: "counter" | "gauge", declared: Declared<Label>): Values<Label> {
    const series = seriesOf(declared.labelNames, () => ({ value: 0 }));
    metrics.push(() =>
      textOf(type, declared, series.all(), (labels, { value }) => sample(declared.name, labels, value)),
    );
    return {
      inc(...given) {
        const [one, by = 1] = series.given(given);
        one.value += by;
      },
      set(...given) {
        const [one, value = 0] = series.given(given);
        one.value = value;
      },
    };
  }

  function histogram<Label extends string>(declared: Declared<Label>, bounds: readonly number[]): Histogram<Label> {
    const { name } = declared;
    // The last of the counts is of what is larger than every bound.
    const series = seriesOf(declared.labelNames, () => ({ counts: new Float64Array(bounds.length + 1), sum: 0 }));
    metrics.push(() =>
      textOf("histogram", declared, series.all(), (labels, { counts, sum }) => {
        let count = 0;
        const buckets = [...bounds, "+Inf"].map((le, index) => {
          count += counts[index]!;
          return sample(`${name}_bucket`, [...labels, ["le", le]], count);
        });
        return [...buckets, sample(`${name}_sum`, labels, sum), sample(`${name}_count`, labels, count)].join("\n");
      }),
    );
    return {
      observe(...given) {
        const [one, value = 0] = series.given(given);
        let bucket = 0;
        while (bucket < bounds.length && value > bounds[bucket]!) bucket++;
        one.counts[bucket]!++;
        one.sum += value;
      },
    };
  }

  return {
    values,
    histogram,
    contentType: "text/plain; version=0.0.4; charset=utf-8",
    text: () => `${metrics.map((text) => text()).join("\n\n")}\n`,
  };
}

/** One of what is counted for each set of labels; a metric without labels has one from the beginning. */
function seriesOf<Label extends string, Counted>(names: readonly Label[], make: () => Counted) {
  const series = new Map<string, { labels: readonly Pair[]; counted: Counted }>();

  function of(labels: Labels<Label>): Counted {
    let key = "";
    for (const name of names) key += `${labels[name]}\n`;
    const known = series.get(key);
    if (known) return known.counted;
    const made = { labels: names.map((name): Pair => [name, labels[name]]), counted: make() };
    series.set(key, made);
    return made.counted;
  }

  const only = names.length === 0 ? of({} as Labels<Label>) : null;
  return {
    /** Whose number was given, and that number. */
    given: (given: Given<Label>): [Counted, number | undefined] =>
      only ? [only, given[0] as number | undefined] : [of(given[0] as Labels<Label>), given[1]],
    all: () => series.values(),
  };
}

type Pair = readonly [name: string, value: string | number];

function textOf<Counted>(
  type: string,
  { name, help }: Declared<string>,
  series: Iterable<{ labels: readonly Pair[]; counted: Counted }>,
  lineOf: (labels: readonly Pair[], counted: Counted) => string,
): string {
  const head = [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
  return [...head, ...Array.from(series, ({ labels, counted }) => lineOf(labels, counted))].join("\n");
}

function sample(name: string, labels: readonly Pair[], value: number): string {
  const text = labels.map(([label, of]) => `${label}="${escaped(String(of))}"`).join(",");
  return `${name}${text && `{${text}}`} ${value}`;
}

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
