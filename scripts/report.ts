import type { Files } from "./tidy.ts";

interface NamedFunction {
  place: string;
  lines: number;
  /** Its lines without nested named functions. */
  own: string[];
}

const many = 70;
const branch = /\b(?:if|for|while|catch) \(|\bcase |&& |\|\| | \? /g;

const isProduct = (path: string) => /^(?:server|dashboard\/src|scripts)\/(?!.*(?:\.test\.|testing\/))/.test(path);

/** Returns findings worth a look, in ten lines at most; none fails a check. */
export function report(files: Files): string[] {
  const functions = Object.entries(files).flatMap(([path, source]) =>
    isProduct(path) ? functionsOf(path, source) : [],
  );
  const long = functions.filter(({ lines }) => lines > many).sort((a, b) => b.lines - a.lines);
  const mixed = functions.filter(isMixed).sort((a, b) => b.own.length - a.own.length);
  const sample = (places: string[], count: number) => places.slice(0, count).map((place) => `     ${place}`);
  return [
    `${long.length} functions of more than ${many} lines; the longest:`,
    ...sample(
      long.map(({ place, lines }) => `${place} (${lines})`),
      3,
    ),
    `${mixed.length} functions that decide and work at once; the longest:`,
    ...sample(
      mixed.map(({ place, own }) => `${place} (${own.length})`),
      3,
    ),
  ];
}

/**
 * True if a function mixes decisions and work: without its nested named functions it has more than 30 lines, five
 * branches (if, case, loop, catch, &&, || and ?:) and four awaits. Pure decisions of any length, and pure sequences, do
 * not count.
 */
function isMixed({ own }: NamedFunction): boolean {
  const text = own.join("\n");
  const times = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
  return own.length > 30 && times(branch) >= 5 && times(/\bawait\b/g) >= 4;
}

const beginning =
  /^( *)(?:export )?(?:default )?(?:async )?(?:function\*? ?(\w+)|(?:const|let) (\w+)(?:: [^=]+)? = (?:async )?(?:<.*>)?\(|(\w+)\([^;]*\)(?:: [^;]+)? \{$)/;
const notNames = new Set(["if", "for", "while", "switch", "catch", "test", "describe", "return"]);

/** Finds named functions by indentation, because one tool formats every source. */
function functionsOf(path: string, source: string): NamedFunction[] {
  const all = source.split("\n");
  const spans = all.flatMap((line, from) => {
    const [, indent = "", ...names] = beginning.exec(line) ?? [];
    const name = names.find(Boolean);
    if (!name || notNames.has(name)) return [];
    const end = all.findIndex(
      (other, at) => at >= from && (at === from ? /;$|\}$/ : closing(indent)).test(other) && !/(\{|\(|=>)$/.test(other),
    );
    return end === -1 ? [] : [{ name, from, end }];
  });
  return spans.map(({ name, from, end }) => {
    const inner = spans.filter((other) => other.from > from && other.end <= end);
    const isOwn = (at: number) => !inner.some((other) => at >= other.from && at <= other.end);
    const own = all.slice(from, end + 1).filter((_, offset) => isOwn(from + offset));
    return { place: `${path} ${name}`, lines: end - from + 1, own };
  });
}

const closing = (indent: string) => new RegExp(`^${indent}[)}\\]]`);
