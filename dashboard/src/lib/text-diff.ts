import { diffArrays } from "diff";

/** A piece of two texts: in both, only in the first, or only in the second. */
export interface DiffPart {
  kind: "same" | "gone" | "new";
  text: string;
}

/** With more of them two texts have so little in common that nobody would read it. */
const mostEdits = 600;

/** What turns one text into another, word by word. */
export const diffWords = (before: string, after: string): DiffPart[] =>
  diffTokens(before, after, /\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu);

/** The same, line by line. Each line keeps its end. */
export const diffLines = (before: string, after: string): DiffPart[] => diffTokens(before, after, /[^\n]*\n|[^\n]+$/g);

function diffTokens(before: string, after: string, token: RegExp): DiffPart[] {
  const parts = diffArrays(before.match(token) ?? [], after.match(token) ?? [], { maxEditLength: mostEdits });
  const whole = [part("gone", before), part("new", after)].filter(({ text }) => text !== "");
  return (
    parts?.map(({ added, removed, value }) => part(added ? "new" : removed ? "gone" : "same", value.join(""))) ?? whole
  );
}

const part = (kind: DiffPart["kind"], text: string): DiffPart => ({ kind, text });
