import type { RunTrigger as RunOrigin } from "../../../../server/domain/run-trigger.ts";
import { isSpan, type RunsSearch, readRange, timeWords } from "../../entities/run/runs-search.ts";
import { formatDuration } from "../../lib/format.ts";

export const originWords: Record<RunOrigin, string> = {
  run: "Run",
  replay: "Replay",
  fork: "Fork",
  import: "Import",
};

/**
 * Chips of the active filters except status, agent and time, which have chips of their own. `keyName` is the API key's
 * name, if loaded.
 */
export function filterChips(
  search: RunsSearch,
  keyName = search.key,
): { name: string; word: string; clear: RunsSearch }[] {
  const { user, thread, origin, model, error, tool, key, cost, duration, first, score, value } = search;
  const set = (name: string, word: string | undefined, clear: RunsSearch) => (word ? [{ name, word, clear }] : []);
  const time = (ms: string) => formatDuration(Number(ms));
  const grade = value ? `${score ?? "any"} ${rangeWords(value, String)}` : score;
  return [
    ...set("Error code", error, { error: undefined }),
    ...set("Model", model, { model: undefined }),
    ...set("Tool", tool, { tool: undefined }),
    ...set("API key", key && keyName, { key: undefined }),
    ...set("User", user, { user: undefined }),
    ...set("Thread", thread, { thread: undefined }),
    ...set("Origin", origin && originWords[origin], { origin: undefined }),
    ...set("Cost", cost && rangeWords(cost, (usd) => `$${usd}`), { cost: undefined }),
    ...set("Duration", duration && rangeWords(duration, time), { duration: undefined }),
    ...set("Time to first token", first && rangeWords(first, time), { first: undefined }),
    ...set("Score", grade, { score: undefined, value: undefined }),
    ...(search.metadata ?? []).map((pair) => {
      const rest = search.metadata!.filter((other) => other !== pair);
      return { name: "Metadata", word: pair, clear: { metadata: rest.length > 0 ? rest : undefined } };
    }),
  ];
}

const inSentence = (name: string): string => (name.startsWith("API") ? name : name.toLowerCase());

/** Describes a range: `1.00 s to 5.00 s`, `from $0.5`, `up to 3`. */
function rangeWords(range: string, write: (end: string) => string): string {
  const { min, max } = readRange(range);
  if (min && max) return `${write(min)} to ${write(max)}`;
  return min ? `from ${write(min)}` : `up to ${write(max ?? "")}`;
}

/**
 * Describes the filters as the end of a sentence: `with status “Failed” and agent “Refund desk” in the last 24 hours`.
 */
export function filterWords(search: RunsSearch, names: { status: Record<string, string>; agent: string }): string {
  const { status, agent, since, until, q } = search;
  const filterTexts = [
    status && `status “${names.status[status]}”`,
    agent && `agent “${names.agent}”`,
    ...filterChips(search).map(({ name, word }) => `${inSentence(name)} “${word}”`),
    q && `the text “${q}”`,
  ].filter((word) => typeof word === "string");
  const time = timeWords(since, until);
  const inTime = time && (since && !until && isSpan(since) ? `in the ${time}` : until && since ? `from ${time}` : time);
  return [filterTexts.length > 0 && `with ${filterTexts.join(" and ")}`, inTime].filter(Boolean).join(" ");
}
