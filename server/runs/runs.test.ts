import { expect, test } from "bun:test";
import { runBench, textOfFrames, tool } from "../testing/run-bench.ts";

test("a run says what its model said, and its journal counts without gaps", async () => {
  using bench = runBench();
  const started = await bench.start([{ text: "Hello, world." }]);
  expect(started.status).toBe("in_progress");
  const run = await bench.settled(started.id);
  expect([run.status, run.output]).toEqual(["completed", "Hello, world."]);
  expect(run.usage.model_calls).toBe(1);
  const entries = bench.journal.read(run.id);
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1));
  expect(entries.map(({ event }) => event.type)).toEqual([
    "run.created",
    "step.started",
    "step.completed",
    "run.completed",
  ]);
});

test("a run waits for its client's tools, takes answers one by one, and goes on", async () => {
  using bench = runBench();
  const call = (name: string) => ({ name, arguments: { city: name } });
  const script = [{ tool_calls: [call("a"), call("b")] }, { text: "Both." }];
  const { id } = await bench.start(script, { tools: [tool("a"), tool("b")] });
  const waiting = await bench.settled(id);
  expect(waiting.status).toBe("requires_action");
  const [a, b] = waiting.required_action!.submit_tool_outputs.tool_calls;
  await bench.service.submit(bench.scope, id, [{ tool_call_id: a!.id, output: { ok: 1 } }]);
  const rest = bench.runs.get(bench.scope, id);
  expect(rest.status).toBe("requires_action");
  expect(rest.required_action!.submit_tool_outputs.tool_calls.map((one) => one.id)).toEqual([b!.id]);
  await bench.service.submit(bench.scope, id, [{ tool_call_id: b!.id, output: "two" }]);
  const done = await bench.settled(id);
  expect([done.status, done.output, done.tool_calls.map(({ output }) => output)]).toEqual([
    "completed",
    "Both.",
    [{ ok: 1 }, "two"],
  ]);
});

test("the stream of a run is its record: live, afterwards, and from every place in between", async () => {
  using bench = runBench();
  const script = [
    {
      reasoning: "Hm, let me see. ",
      text: "One two three four five. ",
      delta_ms: 1,
      tool_calls: [{ name: "t", arguments: {} }],
    },
    { text: "Six seven." },
  ];
  const { id } = await bench.start(script, { tools: [tool("t")] });
  const live = bench.stream(id);
  const { required_action } = await bench.settled(id);
  await bench.service.submit(bench.scope, id, [
    { tool_call_id: required_action!.submit_tool_outputs.tool_calls[0]!.id, output: 1 },
  ]);
  const frames = await live;
  expect(textOfFrames(frames)).toBe("One two three four five. Six seven.");
  expect(frames.at(-1)!.event).toBe("run.completed");
  const replayed = await bench.stream(id);
  expect(textOfFrames(replayed)).toBe(textOfFrames(frames));
  for (const [index, frame] of frames.entries()) {
    const [seq, offset] = frame.id.split(".").map(Number);
    const rest = await bench.stream(id, { seq: seq!, anchor: offset === undefined ? null : seq!, offset: offset ?? 0 });
    expect(textOfFrames([...frames.slice(0, index + 1), ...rest])).toBe(textOfFrames(frames));
    const journaled = [...frames.slice(0, index + 1), ...rest].filter(({ event }) => event !== "token");
    expect(journaled.map(({ id: number }) => number)).toEqual(
      frames.filter(({ event }) => event !== "token").map(({ id: number }) => number),
    );
  }
});

test("what a cancelled run is estimated to have said is no more than it was allowed to say", async () => {
  using bench = runBench();
  const script = [{ text: `${"x".repeat(60)} `.repeat(100), delta_ms: 2 }];
  const { id } = await bench.start(script, { agent: { settings: { script, max_output_tokens: 90 } } });
  await bench.stream(id, undefined, ({ event, data }) => event === "token" && (data.offset as number) > 500);
  await bench.service.cancel(bench.scope, id, "enough");
  const { usage, output } = bench.runs.get(bench.scope, id);
  expect(output!.length).toBeGreaterThan(400);
  expect(usage).toMatchObject({ estimated: true, output_tokens: 90 });
});

test("a cancelled run is over at once, and what was streamed until then is in its record", async () => {
  using bench = runBench();
  const { id } = await bench.start([{ text: "word ".repeat(500), delta_ms: 2 }]);
  const frames = bench.stream(id);
  await bench.stream(id, undefined, ({ event, data }) => event === "token" && (data.offset as number) > 20);
  await bench.service.cancel(bench.scope, id, "enough");
  const run = bench.runs.get(bench.scope, id);
  expect([run.status, run.error!.code]).toEqual(["cancelled", "run_cancelled"]);
  expect(run.usage.estimated).toBe(true);
  const seen = await frames;
  expect(seen.at(-1)).toMatchObject({
    event: "run.failed",
    data: { status: "cancelled", error: { code: "run_cancelled" } },
  });
  expect(run.output).toBe(textOfFrames(seen));
  expect(textOfFrames(await bench.stream(id))).toBe(run.output!);
});
