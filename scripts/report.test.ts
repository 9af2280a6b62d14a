import { expect, test } from "bun:test";
import { report } from "./report.ts";

const lines = (count: number, line: string) => `${line}\n`.repeat(count);
const named = (name: string, body: string) => `export async function ${name}() {\n${body}}\n`;

test("the longest functions and those that mix decisions and work are named in ten lines at most", () => {
  const found = report({
    "server/a.ts": named("mixed", lines(20, "  if (await a()) b();") + lines(15, "  c();")),
    "server/b.ts": named("decides", lines(40, "  if (a) b();")) + named("works", lines(80, "  await a();")),
    "server/c.ts": named(
      "holds",
      lines(4, "  const two = async () => {\n    if (a || b) await c();\n  };\n") + lines(30, "  d();"),
    ),
    "server/d.test.ts": named("tests", lines(100, "  if (await a()) b();")),
  });
  expect(found).toEqual([
    "1 functions of more than 70 lines; the longest:",
    "     server/b.ts works (82)",
    "1 functions that decide and work at once; the longest:",
    "     server/a.ts mixed (37)",
  ]);
});
