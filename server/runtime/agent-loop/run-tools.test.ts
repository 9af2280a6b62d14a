import { expect, test } from "bun:test";
import { stateOf, turnWithCalls } from "../../domain/__fixtures__/events.ts";
import { httpTool } from "../../testing/run-fixture.ts";
import { type RunContext, type RunPorts, Superseded } from "./run-context.ts";
import { runTools } from "./run-tools.ts";
import { testTool } from "./test-tool.ts";

const state = stateOf(...turnWithCalls(["call_1", null]));
const [call] = state.calls;
const tools = [httpTool(call!.tool, "")];
const never = () => Promise.reject(new Error("Nobody asks for this."));

/** Runs the call with a tool that throws this; `stop` ends the run before. */
function run(thrown: Error, stop: boolean) {
  const abort = new AbortController();
  const runTool = async () => {
    if (stop) abort.abort();
    throw thrown;
  };
  const ports: Partial<RunPorts> = { append: never, keepFile: never, startChild: never, runTool, now: () => 0 };
  const turn = { state: () => state, record: never, start: { agent: { tools } }, ports, signal: abort.signal };
  return runTools([call!], turn as unknown as RunContext);
}

test("a tool that is aborted with its run is not an internal error, whatever it throws, and appends nothing", async () => {
  await expect(run(new DOMException("stopped", "AbortError"), true)).rejects.toBeInstanceOf(Superseded);
  await expect(run(new Error("a bug"), false)).rejects.toThrow("a bug");
});

test("a tried tool ends when its client disconnects, without an internal error", async () => {
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
  const trying = () => testTool(reach, attempt, never, abort.signal);
  await expect(trying()).rejects.toThrow("a bug");
  abort.abort();
  expect(await trying()).toMatchObject({ output: null, error: { code: "aborted" } });
  expect(closed).toBe(2);
});
