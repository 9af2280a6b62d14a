/** Labels of a series: a value for each declared label name. */
type Labels<Label extends string> = Readonly<Record<Label, string | number>>;

interface Declared<Label extends string> {
  name: string;
  help: string;
  labelNames: readonly Label[];
}

/** Arguments: labels, if the metric has any, and a number. */
type MetricArguments<Label extends string> = [Label] extends [never]
  ? [number?]
  : [labels: Labels<Label>, number?: number];

/** A counter or gauge. */
interface Values<Label extends string> {
  /** Adds the number; default 1. */
  inc(...given: MetricArguments<Label>): void;
  set(...given: MetricArguments<Label>): void;
}

/** Counts values in buckets. */
interface Histogram<Label extends string> {
  observe(...given: MetricArguments<Label>): void;
}

/**
 * Metrics with their Prometheus text (format 0.0.4). Counting is part of every request and journal entry, so it finds a
 * series by its labels without creating objects or strings.
 */
export function createRegistry() {
  const metrics: (() => string)[] = [];

  function values<Label extends string>(type: "counter" | "gauge", definition: Declared<Label>): Values<Label> {
    const series = seriesOf(definition.labelNames, () => ({ value: 0 }));
    metrics.push(() =>
      textOf(type, definition, series.all(), (labels, { value }) => sample(definition.name, labels, value)),
    );
    return {
      inc(...[first, second]) {
        series.of(first).value += series.numberOf(first, second) ?? 1;
      },
      set(...[first, second]) {
        series.of(first).value = series.numberOf(first, second) ?? 0;
      },
    };
  }

  function histogram<Label extends string>(declared: Declared<Label>, bounds: readonly number[]): Histogram<Label> {
    const { name } = declared;
    // The last count is for values above every bound.
    const series = seriesOf(declared.labelNames, () => ({ counts: new Float64Array(bounds.length + 1), sum: 0 }));
    metrics.push(() =>
      textOf("histogram", declared, series.all(), (labels, { counts, sum }) => {
        let count = 0;
        const buckets = [...bounds, "+Inf"].map((le, index) => {
          count += counts[index] ?? 0;
          return sample(`${name}_bucket`, [...labels, ["le", le]], count);
        });
        return [...buckets, sample(`${name}_sum`, labels, sum), sample(`${name}_count`, labels, count)].join("\n");
      }),
    );
    return {
      observe(...[first, second]) {
        const one = series.of(first);
        const value = series.numberOf(first, second) ?? 0;
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

interface Level<Counted> {
  below: Map<string | number, Level<Counted>>;
  counted: Counted | null;
}

/** Creates one value per combination of labels; a metric without labels has one from the start. */
function seriesOf<Label extends string, Counted>(names: readonly Label[], make: () => Counted) {
  const series: { labels: readonly Pair[]; counted: Counted }[] = [];
  const newLevel = (): Level<Counted> => ({ below: new Map(), counted: null });
  const first = newLevel();

  function of(given: Labels<Label> | number | undefined): Counted {
    let level = first;
    for (const name of names) {
      const value = (given as Labels<Label>)[name];
      let next = level.below.get(value);
      if (!next) {
        next = newLevel();
        level.below.set(value, next);
      }
      level = next;
    }
    return level.counted ?? begun(level, given as Labels<Label>);
  }

  function begun(level: Level<Counted>, labels: Labels<Label>): Counted {
    level.counted = make();
    series.push({ labels: names.map((name): Pair => [name, labels[name]]), counted: level.counted });
    return level.counted;
  }

  if (names.length === 0) of(undefined);
  return {
    of,
    /** Returns the number: the argument after the labels, if the metric has any. */
    numberOf: (given: Labels<Label> | number | undefined, behind: number | undefined): number | undefined =>
      names.length === 0 ? (given as number | undefined) : behind,
    all: () => series,
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
