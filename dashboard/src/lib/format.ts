/** Shown for unknown values. Never 0: unknown is not zero. */
export const unknownText = "–";

/**
 * Formats `388 ms`, `2.84 s`, `62.4 s`, `31 min 43 s`, `2 h 5 min`, `3 d 4 h`: three significant digits below 100 s.
 */
export function formatDuration(ms: number | null | undefined): string {
  if (ms == null || !Number.isFinite(ms)) return unknownText;
  if (ms < 999.5) return `${Math.round(Math.max(ms, 0))} ms`;
  if (ms < 9_995) return `${(ms / 1000).toFixed(2)} s`;
  if (ms < 99_950) return `${(ms / 1000).toFixed(1)} s`;
  return formatElapsed(ms);
}

/** Formats a running duration in whole seconds: `3 s`, `1 min 2 s`. */
export function formatElapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return pair(minutes, "min", seconds % 60, "s");
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return pair(hours, "h", minutes % 60, "min");
  return pair(Math.floor(hours / 24), "d", hours % 24, "h");
}

/** Lower-cases a title for use in a sentence: `Memory stores` becomes `memory stores`, `API keys` stays. */
export const inSentence = (title: string): string =>
  /^[A-Z]{2}/.test(title) ? title : title.slice(0, 1).toLowerCase() + title.slice(1);

/** Capitalizes a phrase: `memory store` becomes `Memory store`. */
export const capital = (phrase: string): string => phrase.slice(0, 1).toUpperCase() + phrase.slice(1);

/** Formats `$0.0186` with four decimals; a positive cost never reads as zero, and one at an estimated price has a ≈. */
export function formatCost(usd: number | null | undefined, isEstimated = false): string {
  if (usd == null) return unknownText;
  if (usd === 0) return "$0.00";
  if (isEstimated) return `≈ ${formatCost(usd)}`;
  if (usd < 0.00005) return "<$0.0001";
  return `$${usd.toLocaleString("en", { minimumFractionDigits: 4, maximumFractionDigits: 4 })}`;
}

/** Formats `212,480`. */
export function formatCount(value: number | null | undefined): string {
  return value == null ? unknownText : value.toLocaleString("en");
}

/** Formats a number of tokens briefly: `8k`, `131k`, `1M`, `1.05M`. */
export function formatTokens(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  if (tokens < 999_500) return `${Math.round(tokens / 1000)}k`;
  return `${Number((tokens / 1_000_000).toFixed(2))}M`;
}

/** Formats `912 B`, `2.1 kB`, `1.4 MB`, `61.8 GB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`;
  if (bytes < 1_000_000_000) return `${(bytes / 1_000_000).toFixed(1)} MB`;
  return `${(bytes / 1_000_000_000).toFixed(1)} GB`;
}

/** Formats `12 s ago`, `31 min ago`, `5 h ago`; from 24 h the date, with the year if it is not the current one. */
export function formatRelative(at: string, now: number): string {
  const age = now - Date.parse(at);
  if (age < 1500) return "just now";
  if (age < 60_000) return `${Math.floor(age / 1000)} s ago`;
  if (age < 3_600_000) return `${Math.floor(age / 60_000)} min ago`;
  if (age < 86_400_000) return `${Math.floor(age / 3_600_000)} h ago`;
  const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return new Date(at).toLocaleDateString("en-GB", {
    day: "numeric",
    month: "short",
    ...(sameYear ? { hour: "2-digit", minute: "2-digit" } : { year: "numeric" }),
  });
}

/** Formats `in 12 s`, `in 31 min`, `in 21 h`, `in 3 days`; from a hundred days the date; past times as `now`. */
export function formatUntil(at: string, now: number): string {
  const remaining_ms = Date.parse(at) - now;
  if (remaining_ms <= 0) return "now";
  if (remaining_ms < 60_000) return `in ${Math.ceil(remaining_ms / 1000)} s`;
  if (remaining_ms < 3_600_000) return `in ${Math.round(remaining_ms / 60_000)} min`;
  if (remaining_ms < 172_800_000) return `in ${Math.round(remaining_ms / 3_600_000)} h`;
  if (remaining_ms < 100 * 86_400_000) return `in ${Math.round(remaining_ms / 86_400_000)} days`;
  return formatDay(at);
}

/** Formats `19 Feb 2027` in the local time zone. */
export function formatDay(at: string | number): string {
  return new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" });
}

/** Formats `today 15:42`, `tomorrow 14:42`, `Tue 24 Nov, 14:42`, with the year if it is not the current one. */
export function formatEnd(at: number, now: number): string {
  const [end, today] = [new Date(at), new Date(now)];
  const clock = end.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  if (end.toDateString() === today.toDateString()) return `today ${clock}`;
  const tomorrow = new Date(today.getFullYear(), today.getMonth(), today.getDate() + 1);
  if (end.toDateString() === tomorrow.toDateString()) return `tomorrow ${clock}`;
  const sameYear = end.getFullYear() === today.getFullYear();
  const day = end.toLocaleDateString("en-GB", {
    weekday: "short",
    day: "numeric",
    month: "short",
    ...(sameYear ? {} : { year: "numeric" }),
  });
  return `${day.replace(",", "")}, ${clock}`;
}

/** Formats `21 Nov 02:14:07` in the local time zone. */
export function formatLocal(at: string): string {
  const date = new Date(at);
  const day = date.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
  return `${day} ${date.toLocaleTimeString("en-GB")}`;
}

/** Formats `2026-11-21 02:14:07.123 UTC`. */
export function formatUtc(at: string): string {
  return new Date(at).toISOString().replace("T", " ").replace("Z", " UTC");
}

/** Milliseconds between two times; null if either is missing. */
export function durationBetween(from: string | null | undefined, to: string | null | undefined): number | null {
  return from && to ? Date.parse(to) - Date.parse(from) : null;
}

/** Formats `1 run`, `4 runs`, `2 entries`. */
export function plural(count: number, noun: string): string {
  return `${formatCount(count)} ${count === 1 ? noun : pluralNoun(noun)}`;
}

/** Joins facts in one line, skipping empty ones. */
export const joinFacts = (...facts: (string | false | null | undefined)[]): string => facts.filter(Boolean).join(" · ");

/** Returns the plural: `runs`, `entries`, `keys`. */
export const pluralNoun = (noun: string): string => (/[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`);

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small ? `${large} ${largeUnit} ${small} ${smallUnit}` : `${large} ${largeUnit}`;
}
