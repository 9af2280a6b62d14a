import { expect, jest, spyOn, test } from "bun:test";
import fc from "fast-check";
import { answer, completed, created, started } from "../../domain/__fixtures__/events.ts";
import { AppError } from "../../domain/errors.ts";
import { sseEvent } from "../../lib/sse.ts";
import { openDatabase } from "../../storage/db/open.ts";
import { Journal } from "../../storage/journal/journal.ts";
import { parseFrames, runFixture, type StreamFrame, textOfFrames, textsOf, tool } from "../../testing/run-fixture.ts";
import { createRunProjection } from "../run-projection.ts";
import { partialAnswer, RunSubscriptions } from "./run-subscriptions.ts";
import { createRunStream, parseCursor, requireCursor } from "./stream.ts";

const waits = [{ text: "Let me see.", tool_calls: [{ name: "look", arguments: {} }] }];

test.each(["x", "1.2.3", "-1", "1.", ".5", "1e3", " 1", "1234567890123456", "1\n"])(
  "%j is not the id of an event",
  (id) => {
    expect(() => parseCursor(id, "starting_after")).toThrow(
      expect.objectContaining({ code: "invalid_cursor", param: "starting_after" }),
    );
  },
);

test("an event id contains the reader's position", () => {
  expect(parseCursor(null, "")).toEqual({ seq: 0, anchor: null, offset: 0 });
  expect(parseCursor("12", "")).toEqual({ seq: 12, anchor: null, offset: 0 });
  expect(parseCursor("12.340", "")).toEqual({ seq: 12, anchor: 12, offset: 340 });
});

test("a stream without events for five seconds sends a ping", async () => {
  using fixture = runFixture();
  const { id } = await fixture.start(waits, { tools: [tool("look")] });
  await fixture.settled(id);
  jest.useFakeTimers();
  const tail = textsOf((wake) => fixture.tail(id, parseCursor("1000", ""), wake));
  try {
    expect((await tail.next()).value).toBe(": open\n\n");
    for (let pings = 0; pings < 2; pings++) {
      let said: unknown = null;
      const next = tail.next().then(({ value }) => (said = value));
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
      for (let second = 0; second < 5; second++) {
        expect(said).toBeNull();
        for (let turn = 0; turn < 10; turn++) await Promise.resolve();
        jest.advanceTimersByTime(1000);
      }
      expect(await next).toBe(": ping\n\n");
    }
  } finally {
    jest.useRealTimers();
  }
  await tail.return();
});

test("a reader that loses its permission gets the error, and its stream ends within a second", async () => {
  using fixture = runFixture();
  const { id } = await fixture.start(waits, { tools: [tool("look")] });
  await fixture.settled(id);
  let end: AppError | null = null;
  const noLongerValid = () => end;
  jest.useFakeTimers();
  const tail = textsOf((wake) => fixture.tail(id, parseCursor("1000", ""), wake, { noLongerValid }));
  try {
    await tail.next();
    end = new AppError("key_revoked", "The key was revoked.");
    const next = tail.next();
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    jest.advanceTimersByTime(1000);
    const [head, event, data = ""] = String((await next).value).split("\n");
    expect([head, event]).toEqual(["retry: 2000", "event: error"]);
    expect(JSON.parse(data.replace("data: ", "")).error).toMatchObject({
      code: "key_revoked",
      type: "authentication_error",
    });
    expect((await tail.next()).done).toBe(true);
  } finally {
    jest.useRealTimers();
  }
  expect(fixture.watches.size()).toBe(0);
});

test("a dialect that ignores most events still receives the last one", async () => {
  using fixture = runFixture();
  const script = Array.from({ length: 12 }, () => ({ tool_calls: [{ name: "none", arguments: {} }] }));
  const { id } = await fixture.start([...script, { text: "Done." }]);
  await fixture.settled(id);
  const dialect = {
    event: ({ event, seq }: { event: string; seq: number }) => (event === "run.completed" ? `end ${seq}` : ""),
    token: () => "",
    error: () => "",
    isLast: ({ event }: { event: string }) => event === "run.completed",
  };
  const tail = textsOf((wake) => fixture.tail(id, parseCursor(null, ""), wake, { dialect }));
  let text = "";
  for await (const value of tail) text += value; // In slices on a busy machine.
  expect(Number(text.replace(/^.*end /s, ""))).toBeGreaterThan(32);
});

test("many readers receive the same, and nothing is kept once they have left", async () => {
  using fixture = runFixture();
  const { id } = await fixture.start([{ reasoning: "Hm, well.", text: "One two three.", delta_ms: 1 }]);
  const leaver = fixture.stream(id, undefined, ({ event }) => event === "token");
  const all = await Promise.all(Array.from({ length: 20 }, () => fixture.stream(id)));
  await leaver;
  for (const frames of all) {
    expect(textOfFrames(frames)).toBe("One two three.");
    expect(frames.flatMap(({ data }) => (data.kind === "reasoning" ? [data.delta] : [])).join("")).toBe("Hm, well.");
  }
  expect([fixture.watches.readers(id), fixture.watches.size()]).toEqual([0, 0]);
});

test("a reader that connects after the end receives nothing more and ends, also if the events were deleted", async () => {
  using fixture = runFixture();
  const { id } = await fixture.start([{ text: "Hi." }]);
  await fixture.settled(id);
  expect(await fixture.stream(id, parseCursor("1000", ""))).toEqual([]);
  await fixture.runs.forgetTrace(fixture.author, id);
  expect(await fixture.stream(id)).toEqual([]);
  expect(await fixture.stream("run_gone")).toEqual([]);
});

test("a run without its trace can no longer be cancelled or answered, and the error says so", async () => {
  using fixture = runFixture();
  const { id } = await fixture.start([{ text: "Hi." }]);
  await fixture.settled(id);
  await fixture.runs.forgetTrace(fixture.author, id);
  await expect(fixture.service.cancel(fixture.scope, id, null)).rejects.toMatchObject({ code: "run_already_terminal" });
  const answers = [{ tool_call_id: "call_x", output: 1 }];
  await expect(fixture.service.submit(fixture.scope, id, answers)).rejects.toMatchObject({
    code: "run_not_awaiting_action",
  });
});

/** Received texts by kind, in order. A token event without a kind continues the previous one. */
function told(frames: StreamFrame[]) {
  const texts = { reasoning: "", output: "" };
  let kind: keyof typeof texts = "output";
  for (const { event, data } of frames) {
    if (event !== "token") continue;
    kind = (data.kind as typeof kind) ?? kind;
    texts[kind] += data.delta as string;
  }
  return [texts.reasoning, texts.output];
}

const deltas = fc.array(
  fc.record({
    kind: fc.constantFrom("output" as const, "reasoning" as const),
    // Halves of characters arrive alone too: providers cut anywhere.
    text: fc.string({ unit: fc.constantFrom("a", "ü", "😀", "\ud83d", "\n", '"'), minLength: 1, maxLength: 6 }),
    leave: fc.boolean(),
  }),
  { maxLength: 12 },
);

test("any sequence of deltas, read over any number of connections, joins to the record", async () => {
  await fc.assert(
    fc.asyncProperty(deltas, fc.nat(40), fc.boolean(), async (sequence, cut, slim) => {
      const db = openDatabase(":memory:");
      db.sqlite.run("INSERT INTO projects (id, name, created_at_ms) VALUES ('proj_1', 'p', 0)");
      const watches = new RunSubscriptions();
      const project = createRunProjection(db.sqlite);
      const journal = new Journal({
        db,
        project,
        wake: (runId, entries) => watches.committed(runId, entries),
        now: () => 0,
      });
      const tail = createRunStream({ journal, watches, publicUrl: () => "https://localhost" });
      const { run_id } = created();
      const append = async (...events: Parameters<typeof journal.append>[1]) => {
        const done = journal.append(run_id, events);
        db.write.flush();
        await done;
      };
      const frames: StreamFrame[] = [];
      let stream = textsOf((wake) => tail(run_id, parseCursor(null, ""), wake, { slim }));
      /** Reads everything available; reconnects on request. */
      const read = async (leave: boolean) => {
        while (frames.length === 0 || frames.at(-1)!.event !== "run.cancelled") {
          const last = frames.at(-1)?.id ?? "";
          const live = watches.live(run_id);
          const head = live
            ? `${live.anchor}${live.length > 0 ? `.${live.length}` : ""}`
            : String(journal.head(run_id)!.seq);
          if (last === head) break;
          const { value, done } = await stream.next();
          if (done) break;
          frames.push(...parseFrames(value));
        }
        if (!leave) return;
        await stream.return();
        const last = parseCursor(frames.at(-1)?.id ?? null, "");
        stream = textsOf((wake) => tail(run_id, last, wake, { slim }));
      };
      await append(created(), started(0));
      await read(false);
      for (const { kind, text, leave } of sequence) {
        const part = kind === "output" ? 1 : 0;
        watches.delta(run_id, { anchor: 2, step_index: 0, part, kind, text, ms: 1 });
        if (leave) await read(true);
      }
      const live = watches.live(run_id)!;
      const spoken = answer([], partialAnswer(live));
      await append(completed(0, { answer: spoken }), {
        type: "run.cancelled",
        reason: null,
        output: null,
        usage: { ...spoken.usage, total_tokens: 0, model_calls: 1, tool_calls: 0, cost_usd: 0, estimated: false },
      });
      for (let step = await stream.next(); !step.done; step = await stream.next())
        frames.push(...parseFrames(step.value));
      const expected = ["reasoning", "output"].map((kind) =>
        sequence.map((delta) => (delta.kind === kind ? delta.text : "")).join(""),
      );
      expect(told(frames)).toEqual(expected);
      expect(frames.filter(({ event }) => event !== "token").map(({ id }) => Number(id))).toEqual([1, 2, 3, 4]);
      // Afterwards, from any offset.
      const offset = Math.min(cut, live.length);
      const rest: StreamFrame[] = [];
      for await (const text of textsOf((wake) => tail(run_id, { seq: 2, anchor: 2, offset }, wake, { slim })))
        rest.push(...parseFrames(text));
      const whole = sequence.map(({ text }) => text).join("");
      expect(rest.flatMap(({ event, data }) => (event === "token" ? [data.delta] : [])).join("")).toBe(
        whole.slice(offset),
      );
      expect(watches.size()).toBe(0);
      db.close();
    }),
    { numRuns: 60 },
  );
});

test("a reader counts as soon as it is admitted, and no longer once it is stopped", async () => {
  using fixture = runFixture();
  const { id } = await fixture.start(waits, { tools: [tool("look")] });
  const [first, second] = ["a", "b"].map(() => fixture.tail(id, parseCursor(null, ""), () => {}));
  expect(fixture.watches.readers(id)).toBe(2);
  for (let times = 0; times < 2; times++) first!.stop();
  expect(fixture.watches.readers(id)).toBe(1);
  second!.stop();
  expect(fixture.watches.readers(id)).toBe(0);
});

test("a large journal is read in pieces: a slow reader holds one piece", async () => {
  using fixture = runFixture();
  const text = "word ".repeat(8000);
  const turn = { text, tool_calls: [{ name: "none", arguments: {} }] };
  const { id } = await fixture.start([...Array<typeof turn>(20).fill(turn), { text: "Done." }]);
  await fixture.settled(id);
  const lengths: number[] = [];
  const frames: StreamFrame[] = [];
  for await (const piece of textsOf((wake) => fixture.tail(id, parseCursor(null, ""), wake))) {
    lengths.push(piece.length);
    frames.push(...parseFrames(piece));
  }
  expect(Math.max(...lengths)).toBeLessThan(64 * 1024 + 2 * text.length);
  expect(textOfFrames(frames)).toBe(`${text.repeat(20)}Done.`);
  const seqs = frames.filter(({ event }) => event !== "token").map(({ data }) => data.seq);
  expect(seqs).toEqual(fixture.journal.read(id).map(({ seq }) => seq));
});

test("other work runs while a reader takes a long journal as fast as it is read", async () => {
  using fixture = runFixture();
  const { id } = await fixture.start(waits, { tools: [tool("look")] });
  await fixture.settled(id);
  await fixture.journal.append(
    id,
    Array.from({ length: 400 }, () => ({ type: "run.resumed" })),
  );
  const { journal } = fixture;
  const reads: number[] = [];
  const read = journal.read.bind(journal);
  using _ = spyOn(journal, "read").mockImplementation((...asked) => {
    reads.push(asked[2] ?? -1);
    Bun.sleepSync(5); // More than a slice.
    return read(...asked);
  });
  const tail = createRunStream({ journal, watches: fixture.watches, publicUrl: () => "" });
  let [turns, frames] = [0, 0];
  const reading = (async () => {
    for await (const text of textsOf((wake) => tail(id, parseCursor(null, ""), wake))) {
      frames += parseFrames(text).length;
      if (frames > 400) return;
    }
  })();
  let isOver = false;
  void reading.finally(() => {
    isOver = true;
  });
  for (; !isOver; turns++) await new Promise((resolve) => setImmediate(resolve));
  await reading;
  expect(turns).toBeGreaterThan(reads.length / 2);
  expect(Math.max(...reads)).toBeLessThanOrEqual(16);
});

test("adjacent deltas of one kind are merged into one event", async () => {
  using fixture = runFixture();
  const { id } = await fixture.start([{ reasoning: "a b c", text: "d e f" }]);
  await fixture.settled(id);
  const tokens = (await fixture.stream(id)).filter(({ event }) => event === "token");
  expect(tokens.map(({ data }) => [data.kind, data.delta, data.offset])).toEqual([
    ["reasoning", "a b c", 5],
    ["output", "d e f", 10],
  ]);
});

/** A journal with a project and its watches, without a server. */
function watchedJournal() {
  const watches = new RunSubscriptions();
  const db = openDatabase(":memory:");
  db.sqlite.run("INSERT INTO projects (id, name, created_at_ms) VALUES ('proj_1', 'p', 0)");
  const journal = new Journal({
    db,
    project: createRunProjection(db.sqlite),
    wake: (runId, entries) => watches.committed(runId, entries),
    now: () => 0,
  });
  return { db, journal, watches };
}

test("a reader of single deltas gets merged ones separately, from any position", async () => {
  const { db, journal, watches } = watchedJournal();
  const { run_id } = created();
  const begun = journal.append(run_id, [created(), started(0)]);
  db.write.flush();
  await begun;
  const delta = { anchor: 2, step_index: 0, part: 0, kind: "output", ms: 1 } as const;
  watches.delta(run_id, { ...delta, text: "One two", marks: [3, 1, 4, 2] });
  watches.delta(run_id, { ...delta, text: "." });
  const tail = createRunStream({ journal, watches, publicUrl: () => "https://localhost" });
  const token = ({ text, end }: { text: string; end: number }) => `${text}|${end}\n`;
  const dialect = { event: () => "", token, error: () => "", isApart: true, isLast: () => false };
  const read = async (offset: number) => {
    const texts = textsOf((wake) => tail(run_id, { seq: 2, anchor: 2, offset }, wake, { dialect }));
    for await (const text of texts) if (text.includes("|")) return text.replace(/^retry:.*\n+/, "");
    return "";
  };
  expect(await read(0)).toBe("One|3\n two|7\n.|8\n");
  expect(await read(4)).toBe("two|7\n.|8\n");
  db.close();
});

// 260,000 characters sent one by one are 29 MB, which took a quarter of a second of the thread.
test("a long step is sent in parts if sent delta by delta, and none is omitted", async () => {
  const { db, journal, watches } = watchedJournal();
  const { run_id } = created();
  const words = Array.from({ length: 20_000 }, (_, index) => `${index} `);
  const deltas = words.flatMap(({ length }) => [0, length, 1]);
  const said = { ...answer([{ type: "text", text: words.join("") }]), deltas };
  const recorded = journal.append(run_id, [created(), started(0), completed(0, { answer: said })]);
  db.write.flush();
  await recorded;
  const read = spyOn(journal, "read");
  const tail = createRunStream({ journal, watches, publicUrl: () => "https://localhost" });
  const dialect = {
    event: ({ seq }: { seq: number }) => `event ${seq}\n`,
    token: ({ text }: { text: string }) => `token ${text}${" ".repeat(100)}\n`,
    error: () => "",
    isApart: true,
    isLast: ({ seq }: { seq: number }) => seq === 3,
  };
  const texts: string[] = [];
  for await (const text of textsOf((wake) => tail(run_id, parseCursor(null, ""), wake, { dialect }))) texts.push(text);
  expect(Math.max(...texts.map(({ length }) => length))).toBeLessThan(1200 * 1024);
  expect(texts.length).toBeGreaterThan(2);
  expect(read.mock.calls.length).toBeLessThanOrEqual(3);
  const lines = texts.join("").split("\n");
  expect(lines.filter((line) => line.startsWith("token ")).map((line) => `${line.slice(6).trim()} `)).toEqual(words);
  expect(lines.filter((line) => line.startsWith("event "))).toEqual(["event 1", "event 2", "event 3"]);
  db.close();
});

// A late reader once received a missed megabyte as one text.
test("missed live text is sent in parts, and other work runs in between", async () => {
  const { db, journal, watches } = watchedJournal();
  const { run_id } = created();
  const begun = journal.append(run_id, [created(), started(0)]);
  db.write.flush();
  await begun;
  const words = Array.from({ length: 10_000 }, (_, index) => `${index} ${"x".repeat(95)}`);
  for (const text of words) watches.delta(run_id, { anchor: 2, step_index: 0, part: 0, kind: "output", ms: 1, text });
  const whole = words.join("");
  const tail = createRunStream({ journal, watches, publicUrl: () => "https://localhost" });
  const lengths: number[] = [];
  const token = ({ text }: { text: string }) => {
    lengths.push(text.length);
    Bun.sleepSync(5); // More than a slice.
    return text;
  };
  const dialect = { event: () => "", token, error: () => "", isLast: () => false };
  let [turns, said] = [0, ""];
  const reading = (async () => {
    for await (const text of textsOf((wake) => tail(run_id, parseCursor(null, ""), wake, { dialect }))) {
      said += text.replace(/^(?:retry:|: open).*\n+/, "");
      if (said.length >= whole.length) return;
    }
  })();
  for (; said.length < whole.length; turns++) await new Promise((resolve) => setImmediate(resolve));
  await reading;
  expect(said).toBe(whole);
  expect(Math.max(...lengths)).toBeLessThan(128 * 1024);
  expect(turns).toBeGreaterThan(lengths.length / 2);
  db.close();
});

test("a slim stream has the new text in each token, and the rest once per step, kind and connection", async () => {
  using fixture = runFixture();
  const { id } = await fixture.start(waits, { tools: [tool("look")] });
  await fixture.settled(id);
  const { journal, watches } = fixture;
  const head = journal.read(id).at(-1)!.seq;
  await journal.append(id, [{ type: "run.resumed" }, started(5)]);
  const anchor = head + 2;
  const texts = textsOf((wake) => fixture.tail(id, parseCursor(`${anchor}`, ""), wake, { slim: true }));
  await texts.next(); // ": open"
  const said: StreamFrame[] = [];
  for (const [kind, text] of [
    ["reasoning", "Hm"],
    ["output", "One "],
    ["output", "two"],
  ] as const) {
    watches.delta(id, { anchor, step_index: 5, part: 0, kind, text, ms: 1 });
    said.push(...parseFrames((await texts.next()).value!));
  }
  await texts.return();
  expect(said.map(({ data }) => data)).toMatchObject([
    { delta: "Hm", kind: "reasoning", offset: 2, step_index: 5, seq: anchor, run_id: id },
    { delta: "One ", kind: "output", offset: 6, step_index: 5, seq: anchor, run_id: id },
    { delta: "two" },
  ]);
  expect(said[2]).toEqual({ event: "token", id: `${anchor}.9`, data: { delta: "two" } });
  expect(sseEvent("token", `${anchor}.9`, '{"delta":""}').length).toBeLessThanOrEqual(60);
  // A reader that reconnects receives the rest again.
  const again = textsOf((wake) => fixture.tail(id, parseCursor(`${anchor}.6`, ""), wake, { slim: true }));
  expect(parseFrames((await again.next()).value!)[0]!.data).toMatchObject({ delta: "two", kind: "output", offset: 9 });
  await again.return();
});

test("a position that no event has had is rejected, and every sent position is accepted", async () => {
  using fixture = runFixture();
  const { id } = await fixture.start(waits, { tools: [tool("look")] });
  await fixture.settled(id);
  const takes = (text: string) => () =>
    requireCursor(fixture, id, parseCursor(text, "starting_after"), "starting_after");
  const frames = fixture.journal.read(id);
  const anchor = frames.find(({ event }) => event.type === "step.started")!.seq;
  for (const good of ["0", "1", `${anchor}`, `${anchor}.1`, `${anchor}.11`, `${frames.length}`])
    expect(takes(good)).not.toThrow();
  for (const bad of [`${frames.length + 1}`, `${anchor}.12`, "1.5", `${anchor + 1}.1`, `${frames.length + 1}.0`])
    expect(takes(bad), bad).toThrow("no such event");
});

test("a position is checked against its own step only, however much follows", async () => {
  using fixture = runFixture();
  const { id } = await fixture.start(waits, { tools: [tool("look")] });
  await fixture.settled(id);
  const { journal } = fixture;
  const anchor = journal.read(id).find(({ event }) => event.type === "step.started")!.seq;
  await journal.append(
    id,
    Array.from({ length: 500 }, () => ({ type: "run.resumed" })),
  );
  const read = journal.read.bind(journal);
  let count = 0;
  using _ = spyOn(journal, "read").mockImplementation((...asked) => {
    const entries = read(...asked);
    count += entries.length;
    return entries;
  });
  requireCursor({ journal, watches: fixture.watches }, id, parseCursor(`${anchor}.1`, ""), "starting_after");
  expect(count).toBeLessThan(20);
});

test("text streamed before a crash is a valid position, even before the run's recovery", async () => {
  using fixture = runFixture();
  const { id } = await fixture.start([{ text: "word ".repeat(200), delta_ms: 1 }]);
  const seen = await fixture.stream(id, undefined, ({ event }) => event === "token");
  const place = parseCursor(seen.at(-1)!.id, "after");
  // Another process on the same journal has no deltas, as after a crash.
  const { journal } = fixture;
  expect(() => requireCursor({ journal, watches: new RunSubscriptions() }, id, place, "after")).not.toThrow();
  await fixture.service.cancel(fixture.scope, id, null);
});
