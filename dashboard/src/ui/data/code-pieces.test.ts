import { expect, test } from "bun:test";
import { requestsCode } from "../../lib/request-code.ts";
import { codePieces } from "./code-pieces.ts";

const told = (code: string) => codePieces(code).map(({ kind, text }) => `${kind}: ${text}`);
const request = { method: "POST" as const, path: "/v1/runs", body: { input: 'It\'s "so"\n# no' }, note: "Ann's run." };

test("a shell string may span lines and contain quotes", () => {
  expect(told(`curl -d '{\n"a": "it'\\''s"\n}' "$X"`)).toEqual([
    "keyword: curl",
    "plain:  -d ",
    `string: '{\n"a": "it'\\''s"\n}'`,
    "plain:  ",
    'string: "$X"',
  ]);
});

test("a comment extends to the end of its line, including quotes", () => {
  expect(told("# Ann's\ncurl")).toEqual(["comment: # Ann's", "plain: \n", "keyword: curl"]);
});

test("no sample loses any text", () => {
  for (const language of ["curl", "typescript", "python"] as const) {
    const code = requestsCode(language, "https://x", [request, request]);
    const pieces = codePieces(code);
    expect(pieces.map(({ text }) => text).join("")).toBe(code);
    expect(pieces.filter(({ kind }) => kind === "comment")).toHaveLength(2);
    expect(pieces.every(({ kind, text }) => kind === "string" || !text.includes("It's"))).toBe(true);
  }
});
