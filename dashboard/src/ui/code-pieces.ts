/** A part of some code that has one colour. */
interface CodePiece {
  kind: "keyword" | "string" | "comment" | "plain";
  text: string;
  /** Where it begins. */
  at: number;
}

const kinds = ["comment", "string", "keyword"] as const;
// A line of remark; a text of the shell, of JSON, TypeScript or Python; the words that begin something.
const pieces =
  /(^ *#.*|(?<!:)\/\/ .*)|('(?:[^']|'\\'')*'|"(?:[^"\\\n]|\\.)*")|\b(curl|runnel|const|await|for|of|import|with|as|in|new)\b/gm;

/** The code of the dashboard's samples (shell, TypeScript, Python) as parts of one colour each. */
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
