import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { unzipSync } from "fflate";
import { inProject } from "../root.ts";
import multilingualSet from "./multilingual-set.json";
import retrievalSet from "./retrieval-set.json";

/** Texts, and questions of several kinds, each answered by one text. */
export interface Corpus {
  name: string;
  passages: string[];
  questions: { kind: string; text: string; passage: number }[];
}

/**
 * Returns notes of a made-up household, shop and town, each with a question in its own words and the same question in
 * synonyms. Written for this comparison alone: small, and by one author, so that it separates search methods and says
 * little about other collections.
 */
export function madeUp(): Corpus {
  return {
    name: "made-up notes",
    passages: retrievalSet.map(([passage]) => passage!),
    questions: retrievalSet.flatMap(([, lexical, paraphrase], passage) => [
      { kind: "same words", text: lexical!, passage },
      { kind: "other words", text: paraphrase!, passage },
    ]),
  };
}

/** Returns the made-up notes, the first sixteen with questions in other languages and in synonyms. */
export function otherLanguages(): Corpus {
  return {
    name: "made-up notes in English, asked in other languages",
    passages: retrievalSet.map(([passage]) => passage!),
    questions: Object.entries(multilingualSet).flatMap(([kind, questions]) =>
      questions.map((text, passage) => ({ kind, text, passage })),
    ),
  };
}

/**
 * Returns axe-core's translated rules (MPL-2.0): the long description in one language is the text, the short one the
 * question.
 */
export function translations(): Corpus[] {
  return ["de", "es", "fr", "ja", "zh_CN"].map((language) => {
    const { rules } = JSON.parse(
      readFileSync(inProject("node_modules/axe-core/locales", `${language}.json`), "utf8"),
    ) as {
      rules: Record<string, { description: string; help: string }>;
    };
    const texts = Object.values(rules);
    return {
      name: `rules of accessibility, ${language}`,
      passages: texts.map(({ description }) => description),
      questions: texts.map(({ help }, passage) => ({ kind: language, text: help, passage })),
    };
  });
}

/** Returns sections of the installed packages' READMEs; the heading is the question. */
export const documentation = (): Corpus =>
  corpusOf(
    "documentation",
    readmeSections(300).map(({ heading, body }) => ({ question: heading, text: body })),
  );

const mostPassages = 600;

/**
 * Returns docstrings of Python's standard library from Pyodide's package (PSF-2.0): the first paragraph is the
 * question, the rest the text.
 */
export function docstrings(): Corpus {
  const files = unzipSync(readFileSync(inProject("node_modules/pyodide/python_stdlib.zip")), {
    filter: ({ name }) => name.endsWith(".py"),
  });
  const pairs = Object.keys(files)
    .sort()
    .flatMap((name) => docstringsOf(Buffer.from(files[name]!).toString()));
  return corpusOf("docstrings", pairs);
}

function docstringsOf(source: string): Pair[] {
  return [...source.matchAll(/:\s*\n\s*r?"""(.+?)"""/gs)].flatMap(([, doc]) => {
    const [first, ...rest] = doc!.split(/\n\s*\n/);
    const [question, text] = [oneLine(first!), rest.join("\n\n").replace(/\n +/g, "\n").trim()];
    return isBetween(question, 20, 200) && isBetween(text, 150, 2500) ? [{ question, text }] : [];
  });
}

/** Returns the installed packages' descriptions as questions for the beginning of their READMEs (by their licences). */
export function packageDescriptions(): Corpus {
  const globs = ["node_modules/*/package.json", "node_modules/@*/*/package.json"].map(
    (pattern) => new Bun.Glob(pattern),
  );
  const paths = globs.flatMap((glob) => [...glob.scanSync({ cwd: inProject(".") })]).sort();
  return corpusOf("package descriptions", paths.flatMap(descriptionOf));
}

function descriptionOf(path: string): Pair[] {
  const { description } = JSON.parse(readFileSync(inProject(path), "utf8")) as { description?: unknown };
  const [readme] = new Bun.Glob("[Rr][Ee][Aa][Dd][Mm][Ee].md").scanSync({
    cwd: inProject(dirname(path)),
    absolute: true,
  });
  if (typeof description !== "string" || !readme) return [];
  const text = readFileSync(readme, "utf8")
    .replace(/\[?!\[.*?\]\(.*?\)(\]\(.*?\))?|<[^>]+>/g, "") // Removes badges and markup.
    .replaceAll(description, "")
    .trim()
    .slice(0, 1500);
  return isBetween(description, 20, 300) && text.length >= 200 ? [{ question: description, text }] : [];
}

/**
 * Returns comments of the installed packages' declarations: the first paragraph is the question, the rest the text (by
 * their licences).
 */
export function declarations(): Corpus {
  const paths = [...new Bun.Glob("node_modules/**/*.d.ts").scanSync({ cwd: inProject(".") })].sort();
  const pairs = paths.flatMap((path) => commentsOf(readFileSync(inProject(path), "utf8")));
  const first = new Map(pairs.map((pair) => [pair.text, pair])); // Generated files contain comments twice.
  return corpusOf("declarations", [...first.values()]);
}

function commentsOf(source: string): Pair[] {
  return [...source.matchAll(/\/\*\*\s*\n(.+?)\*\//gs)].flatMap(([, comment]) => {
    const [first, ...rest] = comment!.replace(/^[ \t]*\*[ \t]?/gm, "").split(/\n\s*\n/);
    const [question, text] = [oneLine(first!), rest.join("\n\n").trim()];
    return isBetween(question, 20, 200) && isBetween(text, 150, 2500) && !question.startsWith("@")
      ? [{ question, text }]
      : [];
  });
}

/** Returns the same questions with two mistyped words. */
export function mistyped({ name, passages, questions }: Corpus): Corpus {
  const wrong = questions.flatMap(({ text, ...question }, at) => {
    const words = [...text.matchAll(/[a-z]{5,}/gi)];
    if (words.length < 2) return [];
    const first = at % words.length;
    const second = (first + 1 + (at % (words.length - 1))) % words.length;
    // From the end, so that the other word's position stays valid.
    const places = [words[first]!, words[second]!].sort((a, b) => b.index - a.index);
    return [{ ...question, text: places.reduce((text, word, index) => mistypedAt(text, word, at + index), text) }];
  });
  return { name: `${name}, two words mistyped`, passages, questions: wrong };
}

function mistypedAt(text: string, { 0: word, index }: RegExpExecArray, seed: number): string {
  const letters = [...word];
  const at = 1 + (seed % (letters.length - 2));
  if (seed % 3 === 0) letters.splice(at, 2, letters[at + 1]!, letters[at]!);
  else if (seed % 3 === 1) letters[at] = "etaoinshr"[seed % 9]!;
  else letters.splice(at, 1);
  return text.slice(0, index) + letters.join("") + text.slice(index + word.length);
}

interface Pair {
  question: string;
  text: string;
}

/** Samples the pairs evenly; leaves out questions that their text contains verbatim. */
function corpusOf(name: string, pairs: readonly Pair[]): Corpus {
  const step = Math.max(1, pairs.length / mostPassages);
  const some = Array.from({ length: Math.min(mostPassages, pairs.length) }, (_, at) => pairs[Math.floor(at * step)]!);
  return {
    name,
    passages: some.map(({ text }) => text),
    questions: some.flatMap(({ question, text }, passage) =>
      oneLine(text).toLowerCase().includes(question.toLowerCase()) ? [] : [{ kind: "all", text: question, passage }],
    ),
  };
}

const oneLine = (text: string) => text.replace(/\s+/g, " ").trim();
const isBetween = ({ length }: string, least: number, most: number) => length >= least && length <= most;

/** A heading of some documentation, and the text below it. */
interface Section {
  heading: string;
  body: string;
}

const body_chars = { least: 200, most: 4000 };

/** Returns sections of the installed packages' READMEs, whose headings summarize them in a few words. */
function readmeSections(count: number): Section[] {
  const globs = ["node_modules/*/README.md", "node_modules/@*/*/README.md"].map((pattern) => new Bun.Glob(pattern));
  const paths = globs.flatMap((glob) => [...glob.scanSync({ cwd: inProject(".") })]).sort();
  const sections = paths.flatMap((path) => sectionsOf(readFileSync(inProject(path), "utf8")));
  const byHeading = Map.groupBy(sections, ({ heading }) => heading.toLowerCase());
  // A heading that two packages use is ambiguous.
  const telling = [...byHeading.values()].flatMap((same) => (same.length === 1 ? same : []));
  const step = Math.max(1, telling.length / count);
  return Array.from({ length: Math.min(count, telling.length) }, (_, index) => telling[Math.floor(index * step)]!);
}

function sectionsOf(text: string): Section[] {
  const parts = text.split(/^#{2,4} +(.+)$/m).slice(1);
  return parts.flatMap((heading, index) => {
    const body = index % 2 === 0 ? parts[index + 1]!.trim() : "";
    const words = heading.replace(/[`*#[\]]|\(.*?\)/g, "").trim();
    const fits = body.length >= body_chars.least && body.length <= body_chars.most;
    return fits && words.split(/\s+/).length >= 3 ? [{ heading: words, body }] : [];
  });
}
