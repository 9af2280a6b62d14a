import type { Files } from "./tidy.ts";

/** A word that the glossary refuses. */
interface Refused {
  word: string;
  /** The folder in which it may stand; null: nowhere. */
  only: string | null;
}

/** The words in the last column of the glossary's table. */
export function refusedWords(glossary: string): Refused[] {
  return glossary
    .split("\n")
    .filter((line) => /^\| [a-z]/.test(line))
    .flatMap((line) => line.split("|").at(-2)!.split(","))
    .map((text) => /^(\w+)(?: \(([^)]+)\))?$/.exec(text.trim()))
    .filter((found) => found !== null)
    .map(([, word = "", only]) => ({ word, only: only ?? null }));
}

/** What the dashboard said once, and what it says now: the field's words, not ours. */
const texts: Record<string, string> = {
  "A person approves (each|some)": "Always required, Conditional",
  "A repeated call": "Safe to repeat",
  "Again in": "Next attempt in",
  "As the system": "System",
  "asks first": "needs approval",
  "Asked for": "Manual",
  "Attempts that were given up": "Failed attempts",
  "Before a call": "Approval",
  "Belongs to": "Scope",
  "Does harm": "Safe to repeat: No",
  "Does no harm": "Safe to repeat: Yes",
  "Event sent again": "Redelivery queued",
  "For ever": "Keep indefinitely",
  "Head of the answer": "Response headers",
  "Hears of": "Events",
  "I have stored it": "I've saved it",
  "It is working": "Working…",
  "Kept for": "Expires after",
  "knows? English": "trained on English",
  "Look further": "Search older runs",
  "Looked at|looked at so far": "Searched",
  "Mistakes are told by the first call": "Errors appear when you test it",
  "More acts": "More actions",
  "Most (cost|model calls|output|time|tokens|tool calls)": "Max …",
  "New runs may call it": "Enabled",
  "No bound": "No limit",
  "Nobody asked|Nobody is asked": "Not required",
  "Nothing is called that": "No results",
  "only 2xx counts": "expected 2xx",
  "Own range": "Custom range",
  "Passages, at most": "Max passages",
  "Put the secret in": "Include secret",
  "Reads the conversation so far": "Remember the conversation",
  "Runs have these once the agent is saved": "Applies after saving",
  "Schema of the arguments": "Arguments (JSON Schema)",
  "Spend, USD": "Cost limit (USD)",
  "Sum up the oldest": "Summarize oldest messages",
  "Summer time is minded": "Adjusts for daylight saving",
  "The model read this in the place of an output": "The model received this error",
  "Times that cannot be kept": "Missed runs",
  "Tried again": "Retries",
  '"Trying again"': "Retrying",
  "went in circles": "repeated itself",
  "What it came to": "Result",
  "What the model is told before all else": "System prompt",
  '(label|title)[:=] ?"(Acts|Answer|Address|Bounds|Due|Fires|Holds)"':
    "Actions, Response format, URL, Run limits, Scheduled for, Schedule, Items",
  '\\d %|\\} %[`"<]': "5.4%, without a blank",
};

/** Where the dashboard, its tests or a message that it shows says what is not said any more. */
export const textFaults = (files: Files): string[] =>
  Object.entries(files)
    .filter(([path]) => /^(dashboard\/src\/|server\/webhooks\/|e2e\/.*\.browser)/.test(path))
    .flatMap(([path, source]) => {
      const shown = withoutComments(source);
      return Object.entries(texts)
        .filter(([never]) => new RegExp(never).test(shown))
        .map(([never, instead]) => `${path} says "${never}" instead of "${instead}"`);
    });

const withoutComments = (source: string): string =>
  source.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "");

/** Where a refused word stands in the product: alone, or as a part of a name in camel case. */
export function wordFaults(files: Files, refused: readonly Refused[]): string[] {
  const product = Object.entries(files).filter(([path]) => /^(server|dashboard|scripts)\//.test(path));
  return refused.flatMap(({ word, only }) => {
    const capital = `${word[0]!.toUpperCase()}${word.slice(1)}`;
    const pattern = new RegExp(`\\b(${word}|${capital})(?![a-z])|[a-z]${capital}(?![a-z])`);
    return product
      .filter(([path, source]) => !isExempt(path) && (only === null || !path.startsWith(only)) && pattern.test(source))
      .map(([path]) => `${path} says "${word}", which the glossary refuses`);
  });
}

const isExempt = (path: string): boolean =>
  /\.test\.tsx?$/.test(path) || path.startsWith("server/testing/") || path === "scripts/words.ts";
