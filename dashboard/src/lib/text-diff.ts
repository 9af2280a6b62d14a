import { diffArrays } from "diff";

/** A part of two texts: in both, only in the first, or only in the second. */
export interface DiffPart {
  kind: "same" | "gone" | "new";
  text: string;
}

/** Maximum number of edits; beyond it the texts differ too much for a readable diff. */
const maxEdits = 600;

/** Computes the diff by words. */
export const diffWords = (before: string, after: string): DiffPart[] =>
  diffTokens(before, after, /\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu);

/** Computes the diff by lines, which keep their line breaks. */
export const diffLines = (before: string, after: string): DiffPart[] => diffTokens(before, after, /[^\n]*\n|[^\n]+$/g);

function diffTokens(before: string, after: string, token: RegExp): DiffPart[] {
  const parts = diffArrays(before.match(token) ?? [], after.match(token) ?? [], { maxEditLength: maxEdits });
  const replacement = [part("gone", before), part("new", after)].filter(({ text }) => text !== "");
  return (
    parts?.map(({ added, removed, value }) => part(added ? "new" : removed ? "gone" : "same", value.join(""))) ??
    replacement
  );
}

const part = (kind: DiffPart["kind"], text: string): DiffPart => ({ kind, text });
