import { expect, test } from "bun:test";
import { runFixture, textOfFrames, tool } from "../testing/run-fixture.ts";

test("a run has its model's output, and its journal counts without gaps", async () => {
  using fixture = runFixture();
  const started = await fixture.start([{ text: "Hello, world." }]);
  expect(started.status).toBe("in_progress");
  const run = await fixture.settled(started.id);
  expect([run.status, run.output]).toEqual(["completed", "Hello, world."]);
  expect(run.usage.model_calls).toBe(1);
  const entries = fixture.journal.read(run.id);
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1));
  expect(entries.map(({ event }) => event.type)).toEqual([
    "run.created",
    "step.started",
    "step.completed",
    "run.completed",
  ]);
});

test("a run waits for its client tools, accepts outputs one by one, and continues", async () => {
  using fixture = runFixture();
  const call = (name: string) => ({ name, arguments: { city: name } });
  const script = [{ tool_calls: [call("a"), call("b")] }, { text: "Both." }];
  const { id } = await fixture.start(script, { tools: [tool("a"), tool("b")] });
  const waiting = await fixture.settled(id);
  expect(waiting.status).toBe("requires_action");
  const [a, b] = waiting.required_action!.submit_tool_outputs.tool_calls;
  await fixture.service.submit(fixture.scope, id, [{ tool_call_id: a!.tool_call_id, output: { ok: 1 } }]);
  const rest = fixture.runs.get(fixture.scope, id);
  expect(rest.status).toBe("requires_action");
  expect(rest.required_action!.submit_tool_outputs.tool_calls.map((one) => one.tool_call_id)).toEqual([
    b!.tool_call_id,
  ]);
  await fixture.service.submit(fixture.scope, id, [{ tool_call_id: b!.tool_call_id, output: "two" }]);
  const done = await fixture.settled(id);
  expect([done.status, done.output, done.tool_calls.map(({ output }) => output)]).toEqual([
    "completed",
    "Both.",
    [{ ok: 1 }, "two"],
  ]);
});

test("the stream of a run equals its record: live, afterwards, and from every position", async () => {
  using fixture = runFixture();
  const script = [
    {
      reasoning: "Hm, let me see. ",
      text: "One two three four five. ",
      delta_ms: 1,
      tool_calls: [{ name: "t", arguments: {} }],
    },
    { text: "Six seven." },
  ];
  const { id } = await fixture.start(script, { tools: [tool("t")] });
  const live = fixture.stream(id);
  const { required_action } = await fixture.settled(id);
  await fixture.service.submit(fixture.scope, id, [
    { tool_call_id: required_action!.submit_tool_outputs.tool_calls[0]!.tool_call_id, output: 1 },
  ]);
  const frames = await live;
  expect(textOfFrames(frames)).toBe("One two three four five. Six seven.");
  expect(frames.at(-1)!.event).toBe("run.completed");
  const replayed = await fixture.stream(id);
  expect(textOfFrames(replayed)).toBe(textOfFrames(frames));
  for (const [index, frame] of frames.entries()) {
    const [seq, offset] = frame.id.split(".").map(Number);
    const rest = await fixture.stream(id, {
      seq: seq!,
      anchor: offset === undefined ? null : seq!,
      offset: offset ?? 0,
    });
    expect(textOfFrames([...frames.slice(0, index + 1), ...rest])).toBe(textOfFrames(frames));
    const journaled = [...frames.slice(0, index + 1), ...rest].filter(({ event }) => event !== "token");
    expect(journaled.map(({ id: number }) => number)).toEqual(
      frames.filter(({ event }) => event !== "token").map(({ id: number }) => number),
    );
  }
});

test("the estimated output of a cancelled run is at most the allowed output", async () => {
  using fixture = runFixture();
  const script = [{ text: `${"x".repeat(60)} `.repeat(100), delta_ms: 2 }];
  const { id } = await fixture.start(script, { agent: { settings: { script, max_output_tokens: 90 } } });
  await fixture.stream(id, undefined, ({ event, data }) => event === "token" && (data.offset as number) > 500);
  await fixture.service.cancel(fixture.scope, id, "enough");
  const { usage, output } = fixture.runs.get(fixture.scope, id);
  expect(output!.length).toBeGreaterThan(400);
  expect(usage).toMatchObject({ estimated: true, output_tokens: 90 });
});

test("a cancelled run is over at once, and its record has the text streamed until then", async () => {
  using fixture = runFixture();
  const { id } = await fixture.start([{ text: "word ".repeat(500), delta_ms: 2 }]);
  const frames = fixture.stream(id);
  await fixture.stream(id, undefined, ({ event, data }) => event === "token" && (data.offset as number) > 20);
  await fixture.service.cancel(fixture.scope, id, "enough");
  const run = fixture.runs.get(fixture.scope, id);
  expect([run.status, run.error!.code]).toEqual(["cancelled", "run_cancelled"]);
  expect(run.usage.estimated).toBe(true);
  const seen = await frames;
  expect(seen.at(-1)).toMatchObject({
    event: "run.failed",
    data: { status: "cancelled", error: { code: "run_cancelled" } },
  });
  expect(run.output).toBe(textOfFrames(seen));
  expect(textOfFrames(await fixture.stream(id))).toBe(run.output!);
});
