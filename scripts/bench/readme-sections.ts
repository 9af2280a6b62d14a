import { readFileSync } from "node:fs";
import { inProject } from "../root.ts";

/** A heading of some documentation, and the text below it. */
interface Section {
  heading: string;
  body: string;
}

const body_chars = { least: 200, most: 4000 };

/** Returns sections of the installed packages' READMEs, whose headings summarize them in a few words. */
export function readmeSections(count: number): Section[] {
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
