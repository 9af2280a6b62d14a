import { expect, test } from "bun:test";
import { stateOf, turnWithCalls } from "../core/__fixtures__/events.ts";
import { tool } from "../testing/run-fixture.ts";
import { runTools } from "./run-tools.ts";
import { tryTool } from "./try-tool.ts";
import { type Ports, Superseded, type Turn } from "./turn.ts";

const state = stateOf(...turnWithCalls(["call_1", null]));
const [call] = state.calls;
const tools = [tool(call!.tool, { type: "http" })];
const never = () => Promise.reject(new Error("Nobody asks for this."));

/** Runs the call with a tool that throws this; `stop` ends the run before. */
function run(thrown: Error, stop: boolean) {
  const abort = new AbortController();
  const runTool = async () => {
    if (stop) abort.abort();
    throw thrown;
  };
  const ports: Partial<Ports> = { append: never, keepFile: never, startChild: never, runTool, now: () => 0 };
  const turn = { state: () => state, record: never, start: { agent: { tools } }, ports, signal: abort.signal };
  return runTools([call!], turn as unknown as Turn);
}

test("a tool that is stopped with its run is no bug, whatever it throws, and leaves nothing in the journal", async () => {
  await expect(run(new DOMException("stopped", "AbortError"), true)).rejects.toBeInstanceOf(Superseded);
  await expect(run(new Error("a bug"), false)).rejects.toThrow("a bug");
});

test("a tool that is tried ends with whoever asked for it, which is no bug either", async () => {
  const abort = new AbortController();
  let closed = 0;
  const runTool = async () => {
    abort.signal.throwIfAborted();
    throw new Error("a bug");
  };
  const reach = () => ({ runTool, keepFile: never, close: () => void closed++ });
  const attempt = {
    drive: 1,
    owner: "a",
    tool: tools[0]!,
    args: {},
    secrets: {},
    egress: { allow: [], loopback: false },
  };
  const trying = () => tryTool(reach, attempt, never, abort.signal);
  await expect(trying()).rejects.toThrow("a bug");
  abort.abort();
  expect(await trying()).toMatchObject({ output: null, error: { code: "aborted" } });
  expect(closed).toBe(2);
});
