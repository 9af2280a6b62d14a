import { isObject } from "../../lib/json.ts";
import type { ModelTool } from "../model-call.ts";
import { stemsOf, synonymsOf } from "./words.ts";

/** Weight of each part of a tool, and how much a long one counts less (BM25F). */
const fields = {
  name: { weight: 4, b: 0.4 },
  description: { weight: 1.5, b: 0.6 },
  parameters: { weight: 0.8, b: 0.6 },
  explanations: { weight: 0.4, b: 0.6 },
};
type Field = keyof typeof fields;
const fieldNames = Object.keys(fields) as Field[];

const saturation = 1.2;
const synonymWeight = 0.35;
const similarWeight = 0.5;
// A tool that has only a fourth of the best one's score was found by a word in passing.
const leastShare = 0.25;
// Bounds of one schema, which comes from a server.
const propertiesMost = 200;
const textMost = 2000;

/** The stems of a tool's parts, and how often each occurs. */
interface Indexed {
  counts: Record<Field, Map<string, number>>;
  lengths: Record<Field, number>;
}

/**
 * Returns the tools that fit the words of a query, the best first; of equal ones, the first. Compares stems, synonyms
 * and, for a word that no tool has, similar words. Empty if no word fits.
 */
export function rankTools<Tool extends ModelTool>(query: string, tools: readonly Tool[], most: number): Tool[] {
  const documents = tools.map(index);
  const vocabulary = new Set(
    documents.flatMap(({ counts }) => fieldNames.flatMap((field) => [...counts[field].keys()])),
  );
  const words = [...new Set(stemsOf(query.slice(0, textMost)))].map((word) => spellings(word, vocabulary));
  const means = Object.fromEntries(
    fieldNames.map((field) => [field, mean(documents.map(({ lengths }) => lengths[field]))]),
  ) as Record<Field, number>;
  const scores = documents.map(() => 0);
  const hits = documents.map(() => 0);
  for (const word of words) {
    const found = documents.map((document) => occurrences(document, word, means));
    const holders = found.filter((count) => count > 0).length;
    const rarity = Math.log(1 + (documents.length - holders + 0.5) / (holders + 0.5));
    for (const [at, count] of found.entries()) {
      if (count === 0) continue;
      scores[at] = (scores[at] ?? 0) + (rarity * count) / (saturation + count);
      hits[at] = (hits[at] ?? 0) + 1;
    }
  }
  // A tool that fits all words is better than one that has a single rare one.
  const ranked = tools
    .map((tool, at) => ({
      tool,
      score: (scores[at] ?? 0) * (0.5 + (0.5 * (hits[at] ?? 0)) / Math.max(1, words.length)),
    }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
  const least = (ranked[0]?.score ?? 0) * leastShare;
  return ranked
    .filter(({ score }) => score >= least)
    .slice(0, most)
    .map(({ tool }) => tool);
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length) || 1;

/** How often a tool has a word, in any of its spellings and parts, each by its weight. */
function occurrences(
  { counts, lengths }: Indexed,
  word: ReadonlyMap<string, number>,
  means: Record<Field, number>,
): number {
  let sum = 0;
  for (const field of fieldNames) {
    const { weight, b } = fields[field];
    let count = 0;
    for (const [spelling, share] of word) count = Math.max(count, share * (counts[field].get(spelling) ?? 0));
    sum += (weight * count) / (1 - b + (b * lengths[field]) / means[field]);
  }
  return sum;
}

/** Returns the stems by which a word is looked for, with their weights. */
function spellings(word: string, vocabulary: ReadonlySet<string>): Map<string, number> {
  const found = new Map([[word, 1]]);
  for (const other of synonymsOf(word)) found.set(other, synonymWeight);
  if (vocabulary.has(word) || word.length < 4) return found;
  for (const other of vocabulary) if (isSimilar(word, other)) found.set(other, similarWeight);
  return found;
}

/** True if one word begins with the other, such as `repo` and `repository`, or if they differ by one letter. */
const isSimilar = (a: string, b: string): boolean =>
  Math.min(a.length, b.length) >= 4 && (a.startsWith(b) || b.startsWith(a) || distance(a, b, 1) <= 1);

/** Number of letters to change, add, leave out or exchange with the next; more than `most` for any higher number. */
export function distance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let [before, row]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const changed = (row[j - 1] ?? 0) + (isSame ? 0 : 1);
      let least = Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, (before[j - 2] ?? 0) + 1);
      next.push(least);
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}

function index({ name, description, parameters }: ModelTool): Indexed {
  const [names, explanations]: [string[], string[]] = [[], []];
  collect(parameters, names, explanations);
  const own = stemsOf(name);
  const texts: Record<Field, string[]> = {
    name: own,
    description: stemsOf(description.slice(0, textMost)),
    parameters: stemsOf(names.join(" ")),
    explanations: stemsOf(explanations.join(" ").slice(0, textMost)),
  };
  const counts = Object.fromEntries(fieldNames.map((field) => [field, countOf(texts[field])])) as Indexed["counts"];
  const lengths = Object.fromEntries(fieldNames.map((field) => [field, texts[field].length])) as Indexed["lengths"];
  // `pull_request` is found as "pullrequest" too.
  for (const [at, part] of own.entries()) if (at > 0) counts.name.set(`${own[at - 1]}${part}`, 1);
  return { counts, lengths };
}

function countOf(stems: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const each of stems) counts.set(each, (counts.get(each) ?? 0) + 1);
  return counts;
}

/** Collects the names and descriptions of a schema's properties, also of nested ones. */
function collect(schema: unknown, names: string[], explanations: string[], depth = 0): void {
  if (!isObject(schema) || depth > 4) return;
  if (depth > 0 && typeof schema.description === "string") explanations.push(schema.description);
  if (isObject(schema.properties))
    for (const [name, property] of Object.entries(schema.properties)) {
      if (names.length >= propertiesMost) return;
      names.push(name);
      collect(property, names, explanations, depth + 1);
    }
  collect(schema.items, names, explanations, depth + 1);
}
