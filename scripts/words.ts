import { type Text, textsOf } from "./texts.ts";
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

/** What was said once, anywhere in a text, and what is said now: the field's words, not ours. */
const phrases: Record<string, string> = {
  "\\$0\\.0000": "$0.00",
  "(\\d|…) %(?!\\w)": "5.4%, without a blank",
  "(\\d|…) numbers(?! no )": "512 dimensions",
  "A person approves (each|some)": "Always required, Conditional",
  "A repeated call": "Safe to repeat",
  "After a crash in the middle of a call": "If a crash interrupts a call",
  "Again in": "Next attempt in",
  "another (answer of the model|output of)": "a different model output, a different output of",
  "As found": "None",
  "As the system": "System",
  "Ask now": "Retry now",
  "Asked for": "Manual",
  "^Asked ": "Requested",
  "Both did the same": "Both took the same steps",
  "^By (meaning|words)$": "Semantic, Keyword",
  "come out otherwise": "would differ",
  "asks first": "needs approval",
  "Attempts that were given up|[Gg]iven up after": "Failed attempts",
  "Before a call": "Approval",
  "Belongs to": "Scope",
  "Does (no )?harm": "Safe to repeat: No, Yes",
  "Event sent again": "Redelivery queued",
  "Every step came out": "All steps are equal",
  "For ever": "Keep indefinitely",
  "found no more": "searches no longer find it",
  "Gone on live|Go on live": "Live fork, Continue live in a fork",
  "Head of the answer": "Response headers",
  "Hears of|hears nothing more": "Events, no longer receives events",
  "[Hh]eld against": "Replayed with",
  "I have stored it": "I've saved it",
  "(answers?|answered) (with )?(status )?(\\d\\d\\d|…)|only 2xx counts": "Endpoint returned 502; expected 2xx",
  "It (works|does not work)\\.": "The connection works, The connection failed",
  "It (happened|did not happen)|(\\w|…) happen\\?": "It took effect, Did … take effect?",
  "It is working": "Working…",
  "Key written": "Key set",
  "Kept for": "Expires after",
  "knows? English": "works offline (English)",
  "Look further": "Search older runs",
  "Look in (test|live|…)": "Check live data",
  "Looked at|looked at so far": "Searched",
  "Made by a run": "Created by a run",
  "Mistakes are told by the first call": "Errors appear when you test it",
  "More acts": "More actions",
  "Most (cost|model calls|output|time|tokens|tool calls)": "Max …",
  "New runs may call it": "Enabled",
  "No bound": "No limit",
  "Nobody asked|Nobody is asked": "Not required",
  "Nothing is called that": "No results",
  "Of the last": "From the last",
  "Own range": "Custom range",
  "Passages, at most": "Max passages",
  "Put the secret in": "Include secret",
  "not there any more": "was deleted",
  "Reads the conversation so far": "Remember the conversation",
  "Runs have these once the agent is saved": "Applies after saving",
  "^Schema of the arguments": "Arguments (JSON Schema)",
  "Spend, USD": "Cost limit (USD)",
  "Sum up the oldest": "Summarize oldest messages",
  "Summer time is minded": "Adjusts for daylight saving",
  "The model read this in the place of an output": "The model received this error",
  "Times that cannot be kept": "Missed runs",
  "takes the file back": "Restore the file with",
  "(is an?|are an?) (object|list): [\\[{]": "Expected an object, Expected a list",
  "those begin with": "is not a run id. Run ids begin with",
  "Tried again": "Retries",
  "Under way": "Running at this point",
  "went in circles": "repeated itself",
  "Whose keys": "Enter a user id",
  "What came of it": "Result",
  "What it came to": "Result",
  "What the model is told before all else": "System prompt",
};

/** The same of texts that are no more than this. */
const labels: Record<string, string> = {
  Acts: "Actions",
  Address: "URL",
  Answer: "Response format",
  Bounds: "Run limits",
  Changed: "Updated",
  Due: "Scheduled for",
  Fires: "Schedule",
  "First token": "Time to first token",
  Holds: "Items",
  "Last change": "Updated",
  Look: "Review",
  Nobody: "Not required",
  Took: "Duration",
  "Trying again": "Retrying",
};

/** What the dashboard shows: its own texts, and what the server says of what went wrong. Its tests say the same. */
const isShown = (path: string): boolean =>
  /^(dashboard\/|server\/(?!testing\/)|e2e\/.*\.browser)/.test(path) && !/\.test\.tsx?$/.test(path);

/** Where the dashboard, its tests or a message that it shows says what is not said any more. */
export const textFaults = (files: Files): string[] =>
  Object.entries(files)
    .filter(([path]) => isShown(path))
    .flatMap(([path, source]) => textsOf(path, source).flatMap((text) => faultsOf(path, text)));

const patterns = Object.entries(phrases).map(([phrase, instead]) => ({ pattern: new RegExp(phrase), instead }));
/** Most texts say none of them: one look is enough. */
const any = new RegExp(Object.keys(phrases).join("|"));

function faultsOf(path: string, { text, name }: Text): string[] {
  const said = any.test(text) ? patterns.filter(({ pattern }) => pattern.test(text)).map(({ instead }) => instead) : [];
  const label = name !== null && Object.hasOwn(labels, text) ? [labels[text]!] : [];
  return [...said, ...label].map((instead) => `${path} says "${text.slice(0, 80)}" instead of "${instead}"`);
}

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
