import type { DiffPart } from "../../lib/text-diff.ts";

/** A line of one side: common, its own, or a number of omitted equal lines. */
type SideLine = { kind: "same" | "own"; text: string } | { kind: "left-out"; count: number };

// Equal lines kept beside a difference, for orientation.
const context = 3;

/** Lines of one side, with long equal stretches omitted. */
export function linesOf(parts: readonly DiffPart[], own: "gone" | "new"): SideLine[] {
  const visibleParts = parts.filter(({ kind }) => kind === "same" || kind === own);
  return visibleParts.flatMap((part, i): SideLine[] => {
    const lines = part.text.replace(/\n$/, "").split("\n");
    if (part.kind === own) return lines.map((text) => ({ kind: "own", text }));
    return folded(lines, parts.indexOf(part) > 0, i < visibleParts.length - 1 || part !== parts.at(-1));
  });
}

function folded(lines: readonly string[], isAfter: boolean, isBefore: boolean): SideLine[] {
  const same = (text: string): SideLine => ({ kind: "same", text });
  const head = isAfter ? context : 0;
  const tail = isBefore ? context : 0;
  const count = lines.length - head - tail;
  if (count < 2 * context) return lines.map(same);
  return [
    ...lines.slice(0, head).map(same),
    { kind: "left-out", count },
    ...lines.slice(lines.length - tail).map(same),
  ];
}

// Characters in about four lines of prose.
const passage = 240;

/** Cuts long common prose in its middle. */
export function cutPassage(text: string, isFirst: boolean, isLast: boolean): string {
  const [head, tail] = [isFirst ? 0 : passage, isLast ? 0 : passage];
  if (text.length < head + tail + 2 * passage) return text;
  return `${text.slice(0, head).toWellFormed()} … ${text.slice(text.length - tail).toWellFormed()}`;
}
