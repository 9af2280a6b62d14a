import { expect, test } from "bun:test";
import { stateOf, turnWithCalls } from "../../domain/__fixtures__/events.ts";
import { tool } from "../../testing/run-fixture.ts";
import { bounds } from "../sandbox/bounds.ts";
import type { Program, ProgramOutcome } from "../sandbox/program.ts";
import { createShared } from "./adapters.ts";
import type { Ask } from "./messages.ts";
import { Superseded } from "./run-context.ts";
import { run as runCodeTool } from "./tools/code.ts";
import type { ToolContext } from "./tools/context.ts";

const [call] = stateOf(...turnWithCalls(["call_1", null])).calls;
const code = { language: "javascript", source: "() => 1", timeout_ms: 1000, memory_mb: 64 } as const;
const nothing: ProgramOutcome = {
  result: 1,
  error: null,
  stdout: "",
  stderr: "",
  stdout_truncated: false,
  stderr_truncated: false,
  files: [],
  files_dropped: 0,
  duration_ms: 1,
  peak_memory_mb: 1,
};

/** Runs a tool with its own files and those of the run; `files` lists id, name and bytes of each. */
async function run(
  own: string[],
  ofRun: string[],
  sizes: Record<string, [name: string, bytes: number]>,
  result: unknown = 1,
) {
  const programs: Program[] = [];
  let read = 0;
  const context: Partial<ToolContext> = {
    fileIds: ofRun,
    async readFile(id, most) {
      const [name, bytes] = sizes[id]!;
      if (bytes > most) return "too_large";
      read += bytes;
      return { name, bytes: new Uint8Array(bytes) };
    },
    sandbox: {
      run: async (program) => {
        programs.push(program);
        return { ...nothing, result };
      },
    },
  };
  const snapshot = { ...tool("sum"), type: "code" as const, code: { ...code, file_ids: own } };
  const outcome = await runCodeTool(call!, snapshot, context as ToolContext, new AbortController().signal);
  return { outcome, names: programs.flatMap(({ files }) => files.map(({ name }) => name)), read };
}

test("if two files have one name, the tool's file keeps it and the other one is named by its id", async () => {
  const sizes: Record<string, [string, number]> = { file_1: ["a.csv", 1], file_2: ["a.csv", 2], file_3: ["b", 3] };
  const { names } = await run(["file_1"], ["file_2", "file_3", "file_1"], { ...sizes });
  expect(names).toEqual(["a.csv", "file_2.csv", "b"]);
});

test("files that are too large in total are not read, and nothing runs", async () => {
  const half = bounds.input / 2;
  const { outcome, names, read } = await run(["file_1"], ["file_2"], {
    file_1: ["a", half + 1],
    file_2: ["b", half],
  });
  expect(outcome).toMatchObject({ output: null, error: { code: "files_too_large" }, attempts: 0 });
  expect([names, read]).toEqual([[], half + 1]);
});

test("a result that could not be stored safely is an error, as for any other tool", async () => {
  const { outcome } = await run([], [], {}, JSON.parse('{"a": {"__proto__": 1}}'));
  expect(outcome).toMatchObject({ output: null, error: { code: "invalid_response" } });
});

test("a run that ends during the sandbox's self-test does not fail other runs", async () => {
  const sandboxOf = createShared((level) => ({ level }));
  const ended = (() => Promise.reject(new Superseded())) as Ask;
  const answered = (async () => "off") as unknown as Ask;
  const [first, second] = await Promise.allSettled([sandboxOf(ended), sandboxOf(answered)]);
  expect([first.status, second.status]).toEqual(["rejected", "fulfilled"]);
  expect(await sandboxOf(ended)).toBe((second as PromiseFulfilledResult<Awaited<ReturnType<typeof sandboxOf>>>).value);
});
