import type { Bucket } from "../../../../server/domain/api-types/enums.ts";
import type { AnalyticsReport } from "../../../../server/domain/api-types/usage.ts";
import { formatCount, formatDuration } from "../../lib/format.ts";
import type { Tone } from "../../ui/charts/chart-tones.ts";
import { seriesTones } from "../../ui/charts/chart-tones.ts";

type Counts = AnalyticsReport["totals"];

/** One series of the stacked bars. */
interface Part {
  name: string;
  tone: Tone;
  /** Id or name of the single series; absent if the part combines several. */
  id?: string;
}

/** Bars in order of time, each with one value per part. */
export interface StackedSeries {
  parts: readonly Part[];
  bars: readonly { at: number; until: number; values: readonly number[] }[];
}

const unit_ms = { hour: 3_600_000, day: 86_400_000 };

/** Start times of a report's buckets up to now. */
export function bucketsOf(
  { from, to, bucket }: Pick<AnalyticsReport, "from" | "to" | "bucket">,
  now: number,
): number[] {
  const [first, end] = [Date.parse(from), Math.min(Date.parse(to), now + 1)];
  const count = Math.max(1, Math.ceil((end - first) / unit_ms[bucket]));
  return Array.from({ length: count }, (_, index) => first + index * unit_ms[bucket]);
}

/** Sums each bucket over all series. */
function sumsOf(report: AnalyticsReport, reads: readonly ((counts: Counts) => number)[], now: number) {
  const rows = new Map(bucketsOf(report, now).map((at) => [at, reads.map(() => 0)]));
  for (const { points } of report.data)
    for (const point of points) {
      const row = rows.get(Date.parse(point.at));
      if (row) for (const [index, read] of reads.entries()) row[index]! += read(point);
    }
  return barsOf(rows, report.bucket);
}

const barsOf = (rows: ReadonlyMap<number, number[]>, bucket: Bucket) =>
  [...rows].map(([at, values]) => ({ at, until: at + unit_ms[bucket], values }));

const cancelledOf = ({ cancelled }: Counts): number => cancelled;
/** Number that has not ended yet. */
export const unfinishedCount = ({ count, completed, cancelled, failed }: Counts): number =>
  count - completed - cancelled - failed;

/** Outcomes of runs, calls, deliveries or schedule runs, over all series. `between` reads the second part. */
export function outcomesOf(
  report: AnalyticsReport,
  words: readonly [string, string, string],
  now: number,
  between = cancelledOf,
): StackedSeries {
  const reads = [({ completed }: Counts) => completed, between, ({ failed }: Counts) => failed];
  const tones: readonly Tone[] = ["model", "rest", "bad"];
  const bars = sumsOf(report, reads, now);
  const hasBars = reads.map((_, index) => index !== 1 || bars.some(({ values }) => values[1]! > 0));
  return {
    parts: words.map((name, index) => ({ name, tone: tones[index]! })).filter((_, index) => hasBars[index]),
    bars: bars.map((bar) => ({ ...bar, values: bar.values.filter((_, index) => hasBars[index]) })),
  };
}

/** One part for each of the largest series, and one for all others. */
export function seriesOf(report: AnalyticsReport, read: (counts: Counts) => number, now: number): StackedSeries {
  const most = seriesTones.length - 1;
  const sorted = report.data.filter((each) => read(each) > 0).sort((a, b) => read(b) - read(a));
  const single = sorted.length > most + 1 ? sorted.slice(0, most) : sorted;
  const others = sorted.slice(single.length);
  const rows = new Map(bucketsOf(report, now).map((at) => [at, seriesTones.slice(0, single.length + 1).map(() => 0)]));
  const add = (points: (typeof report.data)[number]["points"], part: number) => {
    for (const point of points) {
      const row = rows.get(Date.parse(point.at));
      if (row) row[part]! += read(point);
    }
  };
  for (const [part, { points }] of single.entries()) add(points, part);
  for (const { points } of others) add(points, single.length);
  const parts = single.map(({ name }, index) => ({ id: name, name: name || "Others", tone: seriesTones[index]! }));
  const hasOthers = others.length > 0;
  return {
    parts: hasOthers ? [...parts, { name: `${formatCount(others.length)} others`, tone: "rest" as const }] : parts,
    bars: barsOf(rows, report.bucket).map((bar) =>
      hasOthers ? bar : { ...bar, values: bar.values.slice(0, parts.length) },
    ),
  };
}

/** A histogram bar: `count` durations between `from` and `to`. */
interface Range {
  from: number;
  to: number;
  count: number;
}

const digits = [1, 2, 5];
/** 1, 2, 5, 10 ms and so on, up to eleven days. */
const bounds = [0, ...Array.from({ length: 10 }, (_, power) => digits.map((digit) => digit * 10 ** power)).flat()];

/** Groups a histogram into readable ranges, without empty ones at its ends. */
export function rangesOf({ data }: AnalyticsReport): Range[] {
  const ranges = bounds.map((from, index) => ({ from, to: bounds[index + 1] ?? Number.POSITIVE_INFINITY, count: 0 }));
  for (const { name, count } of data) ranges.findLast(({ from }) => from <= Number(name))!.count += count;
  const first = ranges.findIndex(({ count }) => count > 0);
  return first < 0 ? [] : ranges.slice(first, ranges.findLastIndex(({ count }) => count > 0) + 1);
}

/** Formats a range: `200 ms to 500 ms`. */
export const rangeLabel = ({ from, to }: Range): string =>
  Number.isFinite(to) ? `${shortTime(from)} to ${shortTime(to)}` : `${shortTime(from)} and more`;

/** Formats a round duration: `200 ms`, `5 s`, `3 min 20 s`. */
export const shortTime = (ms: number): string => (ms >= 1000 && ms < 100_000 ? `${ms / 1000} s` : formatDuration(ms));

/** Formats a bucket's time: `Fri 20 Nov` or `Fri 20 Nov, 14:00 UTC`. */
export function bucketLabel({ at, until }: { at: number; until: number }): string {
  const day = new Date(at)
    .toLocaleDateString("en-GB", { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" })
    .replace(",", "");
  return until - at < unit_ms.day ? `${day}, ${clock(at)} UTC` : day;
}

/** Axis label of a bar: `20 Nov`, or `14:00` with the date at midnight. */
export function bucketTick({ at, until }: { at: number; until: number }): string {
  const isDay = until - at >= unit_ms.day || at % unit_ms.day === 0;
  return isDay
    ? new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" })
    : clock(at);
}

const clock = (at: number): string => new Date(at).toISOString().slice(11, 16);
