import { beforeEach, expect, test } from "bun:test";
import { httpTool } from "../../testing/run-fixture.ts";
import type { ToolResult } from "./tools/tool-result.ts";
import { truncateOutput } from "./truncate-output.ts";

const kept: { name: string; text: string }[] = [];
const keepFile = async ({ name, bytes }: { name: string; bytes: Uint8Array }) => {
  kept.push({ name, text: new TextDecoder().decode(bytes) });
  return { id: "file_1", filename: name, mime_type: "text/plain", bytes: bytes.length, sha256: "0" };
};
beforeEach(() => void kept.splice(0));
const done = (output: unknown): ToolResult => ({ output, error: null, attempts: 1 });
const limited = httpTool("report", "", { max_output_bytes: 100 });

test("an output within the tool's limit is unchanged and not stored as a file", async () => {
  const json = { text: "é".repeat(44) };
  expect(Buffer.byteLength(JSON.stringify(json))).toBeLessThanOrEqual(100);
  expect(await truncateOutput(done(json), limited, keepFile)).toEqual(done(json));
  expect(kept).toEqual([]);
});

test.each([
  ["text", "a".repeat(150) + "é".repeat(100) + "z".repeat(150), "report.txt"],
  ["JSON", { rows: Array.from({ length: 50 }, (_, n) => n) }, "report.json"],
])(
  "a larger %s is kept whole as a file, and the model reads its head, its tail and where the rest is",
  async (_, output, name) => {
    const { output: shown, files } = await truncateOutput(done(output), limited, keepFile);
    const whole = typeof output === "string" ? output : JSON.stringify(output);
    expect(kept).toEqual([{ name, text: whole }]);
    expect(files).toMatchObject([{ id: "file_1" }]);
    const [head, note, tail] = String(shown).split("\n");
    expect(whole.startsWith(head!)).toBeTrue();
    expect(whole.endsWith(tail!)).toBeTrue();
    expect(note).toContain("file_1");
    expect(Buffer.byteLength(head! + tail!)).toBeLessThanOrEqual(100);
  },
);

test("truncation never splits a character", async () => {
  const { output } = await truncateOutput(done("😀".repeat(100)), limited, keepFile);
  expect(String(output)).not.toContain("\uFFFD");
  expect(String(output).isWellFormed()).toBeTrue();
});
