import { afterAll, describe, expect, test } from "bun:test";
import { sentenceModelFolder } from "../../../../scripts/sentence-model.ts";
import { embeddingEntry } from "../../../lib/assets.ts";
import { silentLog } from "../../../lib/log.ts";
import { startThread } from "../../../lib/start-thread.ts";
import { withEnoughTime } from "../../../testing/enough-time.ts";
import { EmbeddingThread } from "./built-in.ts";
import type { Answer, Order } from "./messages.ts";
import { type BuiltInModel, builtInModels } from "./models.ts";

const shared = new EmbeddingThread({ log: silentLog });
afterAll(() => shared.stop());

const lite = "builtin/use-lite-512";
const models: BuiltInModel[] = [lite, ...((await sentenceModelFolder()) ? ["builtin/all-minilm-l6-v2" as const] : [])];

const likeness = (one: Float32Array, other: Float32Array) =>
  one.reduce((sum, value, index) => sum + value * other[index]!, 0);

const sentence = (index: number) => `Sentence number ${index} is about ${["boats", "taxes", "bread"][index % 3]}.`;

/** A thread program that runs this code for each message. */
const program = (statement: string) => {
  const source = `self.onmessage = ({ data }) => { ${statement} };`;
  return URL.createObjectURL(new Blob([source], { type: "application/javascript" }));
};

/** An embedder whose first threads run these programs, one each, and all later ones the model. */
function withThreads(programs: string[], options: { patience_ms?: number; rest_ms?: number } = {}) {
  const left = [...programs];
  let started = 0;
  const embedder = new EmbeddingThread({
    ...options,
    log: silentLog,
    start(hear, died) {
      started++;
      return startThread<Order, Answer>(() => left.shift() ?? embeddingEntry())(hear, died);
    },
  });
  return Object.assign(embedder, { started: () => started, [Symbol.dispose]: () => embedder.stop() });
}

describe.each(models)("vectors of %s", (model) => {
  test.each([
    ["How do I get my money back?", "Refunds are paid within five days.", "The museum has a new roof."],
    ["The car would not start this morning.", "My vehicle's engine is broken.", "Add two spoons of sugar."],
    ["Who may enter the laboratory?", "Only trained staff have access to the lab.", "The invoice is due in June."],
  ])("of %j are closer to those of %j than of %j", async (text, near, far) => {
    const [one, paraphrase, other] = await shared.embed(model, [text, near, far]);
    expect(likeness(one!, paraphrase!)).toBeGreaterThan(likeness(one!, other!) + 0.1);
  });

  test("keep the order of their texts, and are the same alone as in a batch", async () => {
    const texts = Array.from({ length: 50 }, (_, index) => sentence(index));
    const batch = await shared.embed(model, texts);
    for (const index of [0, 17, 49]) {
      const [alone] = await shared.embed(model, [texts[index]!]);
      expect(likeness(alone!, batch[index]!)).toBeGreaterThan(0.9999);
      expect(batch.findIndex((vector) => likeness(vector, alone!) > 0.9999)).toBe(index);
    }
  });

  test("include the end of a long text", async () => {
    const filler = "The committee met in the old town hall and talked about its budget. ".repeat(30);
    const [without, withEnd, query] = await shared.embed(model, [
      filler,
      `${filler}${"Penguins are birds that swim in the sea and cannot fly. ".repeat(5)}`,
      "Which birds swim in the sea?",
    ]);
    expect(likeness(withEnd!, query!)).toBeGreaterThan(likeness(without!, query!) + 0.05);
  });

  test("are empty for no texts", async () => {
    expect(await shared.embed(model, [])).toEqual([]);
  });

  test.each([
    ["nothing", ""],
    ["white space", " \n\t".repeat(300_000)],
    ["symbols", "!!! ??? --- <<<>>> |||"],
    ["half characters", "\ud800 \udfff \ud800".repeat(50)],
    ["a word of a megabyte", "x".repeat(1_000_000)],
    ["one character that stands for eighteen", "\ufdfa".repeat(300)],
    ["pictures", "🎉".repeat(100_000)],
    ["control characters", "\0\u0001\u202e\ufeff".repeat(100)],
    ["accents upon accents", `a${"\u0301".repeat(400)}`],
    ["another script", "退款政策是什么"],
  ])("%s gives a finite unit vector", async (_, text) => {
    const [vector] = await shared.embed(model, [text]);
    expect(vector).toHaveLength(builtInModels[model].dimensions);
    expect(Math.hypot(...vector!)).toBeCloseTo(1, 4);
  });
});

describe("a query", () => {
  test("is served before the rest of a batch", async () => {
    const batch = shared.embed(
      lite,
      Array.from({ length: 60 }, (_, index) => sentence(index)),
    );
    const query = shared.embed(lite, ["Where are the boats?"]);
    expect(await Promise.race([batch.then(() => "batch"), query.then(() => "query")])).toBe("query");
    expect(await batch).toHaveLength(60);
  });
});

describe("a batch", () => {
  const vectors = "data.texts.map(() => Float32Array.of(1, 0))";
  const waiting = `self.postMessage({ id: data.id, waited_ms: 1e9, vectors: ${vectors} })`;

  test("rests if the thread waited for a core, and others are served meanwhile", async () => {
    using embedder = withThreads([program(waiting)], { rest_ms: 1e9 });
    const batch = embedder.embed(lite, ["x".repeat(8000)], undefined, { owner: "one" });
    for (const owner of ["two", "three", "four"])
      expect(await embedder.embed(lite, ["short"], undefined, { owner })).toHaveLength(1);
    expect(Bun.peek.status(batch)).toBe("pending");
    embedder.stop();
    await expect(batch).rejects.toThrow("stops");
  });

  test("continues after its rest", async () => {
    using embedder = withThreads([program(waiting)], { rest_ms: 5 });
    const batch = embedder.embed(lite, ["x".repeat(8000)], undefined, { owner: "one" });
    await embedder.embed(lite, ["short"], undefined, { owner: "two" });
    expect(await batch).toHaveLength(1);
  });

  test("does not rest if no other owner asks", async () => {
    using embedder = withThreads([program(waiting)], { rest_ms: 1e9 });
    expect(await embedder.embed(lite, ["x".repeat(8000)], undefined, { owner: "one" })).toHaveLength(1);
  });
});

describe("a call that is aborted", () => {
  test("before it begins, costs nothing", async () => {
    using embedder = withThreads([]);
    await expect(embedder.embed(lite, ["text"], AbortSignal.abort())).rejects.toThrow(/abort/i);
    expect(embedder.started()).toBe(0);
  });

  test("while it runs, fails at once and leaves the others alone", async () => {
    const abort = new AbortController();
    const texts = Array.from({ length: 100 }, (_, index) => sentence(index));
    const [given_up, other] = [shared.embed(lite, texts, abort.signal), shared.embed(lite, texts.slice(0, 3))];
    abort.abort();
    await expect(given_up).rejects.toThrow(/abort/i);
    expect(await other).toHaveLength(3);
  });
});

describe("the thread", () => {
  test("ends when idle, frees its memory, and is started again by the next call", async () => {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    let started = 0;
    const embedder = new EmbeddingThread({
      log: silentLog,
      idle_ms: 20,
      start(hear, died) {
        started++;
        const thread = startThread<Order, Answer>(embeddingEntry)(hear, died);
        return {
          ...thread,
          end() {
            thread.end();
            resolve();
          },
        };
      },
    });
    expect(embedder.isLoaded()).toBe(false);
    await embedder.embed(lite, ["first"]);
    const loaded = process.memoryUsage.rss();
    await ended;
    expect(embedder.isLoaded()).toBe(false);
    while (process.memoryUsage.rss() > loaded - 50_000_000) await Bun.sleep(5);
    expect(await embedder.embed(lite, ["second"])).toHaveLength(1);
    expect(started).toBe(2);
    embedder.stop();
  });

  test.each([
    ["exits", "process.exit(3)"],
    ["throws", "throw new Error('broken')"],
    ["rejects", "Promise.reject(new Error('broken'))"],
  ])("that %s in the middle of a call is replaced, and the call succeeds", async (_, statement) => {
    using embedder = withThreads([program(statement)]);
    expect(await embedder.embed(lite, ["one", "two"])).toHaveLength(2);
    expect(embedder.started()).toBe(2);
  });

  test("is replaced too if it never answers", async () => {
    const answering = "self.postMessage({ id: data.id, waited_ms: 0, vectors: [Float32Array.of(1, 0)] })";
    const vectors = await withEnoughTime(1000, async (patience_ms) => {
      using embedder = withThreads([program(""), program(answering)], { patience_ms });
      // A real thread may need longer to answer than a short timeout.
      return await embedder.embed(lite, ["one"]).catch(() => null);
    });
    expect(vectors).toEqual([Float32Array.of(1, 0)]);
  });

  test("that dies twice over the same text fails that call, and the next one works", async () => {
    using embedder = withThreads([program("process.exit(3)"), program("process.exit(3)")]);
    const failing = embedder.embed(lite, ["one"]);
    const waiting = embedder.embed(lite, ["two"]);
    await expect(failing).rejects.toMatchObject({ code: "embedding_failed", retryable: true });
    expect(await waiting).toHaveLength(1);
    expect(embedder.started()).toBe(3);
  });

  test("reports a failure of its model, and continues", async () => {
    using embedder = withThreads([program("self.postMessage({ id: data.id, waited_ms: 0, fault: 'no memory' })")]);
    await expect(embedder.embed(lite, ["one"])).rejects.toMatchObject({ code: "embedding_failed", retryable: false });
    await expect(embedder.embed(lite, ["two"])).rejects.toThrow("no memory");
    expect(embedder.started()).toBe(1);
  });
});

test("pending calls fail when it stops, and nothing is started again", async () => {
  const embedder = withThreads([]);
  const calls = [embedder.embed(lite, ["one"]), embedder.embed(lite, ["two"])];
  embedder.stop();
  for (const call of calls) await expect(call).rejects.toMatchObject({ code: "embedding_failed", retryable: true });
  await expect(embedder.embed(lite, ["three"])).rejects.toThrow("stops");
  expect(embedder.isLoaded()).toBe(false);
});
