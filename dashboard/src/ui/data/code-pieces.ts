/** A highlighted part of code. */
interface CodePiece {
  kind: "keyword" | "string" | "comment" | "plain";
  text: string;
  /** Start offset. */
  at: number;
}

const kinds = ["comment", "string", "keyword"] as const;
// Groups: a comment; a string of shell, JSON, TypeScript or Python; a keyword.
const pieces =
  /(^ *#.*|(?<!:)\/\/ .*)|('(?:[^']|'\\'')*'|"(?:[^"\\\n]|\\.)*")|\b(curl|runnel|const|await|for|of|import|with|as|in|new)\b/gm;

/** Splits sample code (shell, TypeScript, Python) into highlighted parts. */
export function codePieces(code: string): CodePiece[] {
  const found: CodePiece[] = [];
  let at = 0;
  const add = (kind: CodePiece["kind"], text: string) => {
    if (text) found.push({ kind, text, at });
    at += text.length;
  };
  for (const match of code.matchAll(pieces)) {
    add("plain", code.slice(at, match.index));
    add(kinds[match.slice(1).findIndex((group) => group !== undefined)] ?? "plain", match[0]);
  }
  add("plain", code.slice(at));
  return found;
}
