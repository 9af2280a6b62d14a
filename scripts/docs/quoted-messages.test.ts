import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { inProject, root } from "../root.ts";
import { writtenPages } from "./pages.ts";

/** A text of the sources: what stands between its variable parts. */
interface Literal {
  pattern: RegExp;
  fixed: number;
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Returns the texts in quotes of a source that may be messages. */
const literalsIn = (source: string): Literal[] =>
  [...source.matchAll(/"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g)].flatMap(([, plain, template]) => {
    const parts = template === undefined ? [plain!] : template.split(/\$\{[^}]*\}/);
    const texts = parts.map((part) => part.replace(/\\(.)/g, "$1").trimEnd());
    const fixed = texts.reduce((sum, text) => sum + text.length, 0);
    return fixed < 12 ? [] : [{ pattern: new RegExp(texts.map(escaped).join(".*?")), fixed }];
  });

const sources = [...new Bun.Glob("server/**/*.{ts,py}").scanSync({ cwd: root })].filter(
  (path) => !/\.test\.ts$|^server\/testing\/|__fixtures__/.test(path),
);

/** Returns the messages that a page quotes: lines of shown output, and the first cells of tables of messages. */
function messagesOf({ path, markdown }: { path: string; markdown: string }): string[] {
  const shown = path === "start/troubleshooting" ? [...markdown.matchAll(/^```text\n([\s\S]*?)^```$/gm)] : [];
  const tables = [...markdown.matchAll(/^\| Message \|.*\n\|.*\n((?:\|.*\n)+)/gm)];
  return [
    ...shown.flatMap(([, lines]) => lines!.trimEnd().split("\n")),
    ...tables.flatMap(([, rows]) => [...rows!.matchAll(/^\| `(The[^`]+)`/gm)].map(([, message]) => message!)),
  ];
}

test("every message that a page explains is one that the code has", () => {
  const quoted = writtenPages().flatMap((page) => messagesOf(page).map((message) => ({ page: page.path, message })));
  expect(quoted.length).toBeGreaterThan(30);
  const literals = sources.flatMap((path) => literalsIn(readFileSync(inProject(path), "utf8")));
  const isKnown = (message: string) =>
    literals.some(({ pattern, fixed }) => fixed >= message.length * 0.4 && pattern.test(message));
  expect(quoted.filter(({ message }) => !isKnown(message))).toEqual([]);
  expect(isKnown("Port 8443 of 127.0.0.1 is busy. --port gives another one, 0 any free one.")).toBe(false);
});
