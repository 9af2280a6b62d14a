import { afterAll, beforeAll, beforeEach, describe, expect, test as plainTest } from "bun:test";
import { Webhook } from "standardwebhooks";
import { denoPath } from "../scripts/deno-tool.ts";
import { inProject } from "../scripts/root.ts";
import { startWebhookReceiver } from "../server/testing/webhook-receiver.ts";
import { type Program, type RunningProgram, type Runtime, startRuntimes } from "./client-runtimes.ts";
import { programOf } from "./doc-examples.ts";
import { createAgent, createScripted, createTool, runToEnd, stubConnection } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { type ModelServer, startModelServer, wordsOf } from "./model-server.ts";
import { type RequestFault, type RoughProxy, startRoughProxy } from "./rough-proxy.ts";
import { waitUntil } from "./until.ts";

// The TypeScript client as the executable serves it, in node, bun, Deno and a browser, with faults on the connection.

const deno = await denoPath();
let model: ModelServer;
let server: Runnel;
let proxy: RoughProxy;
let runtimes: Awaited<ReturnType<typeof startRuntimes>>;
beforeAll(async () => {
  model = startModelServer();
  server = await startRunnel({ environment: stubConnection(model.url) });
  proxy = await startRoughProxy(server);
  runtimes = await startRuntimes(server);
});
afterAll(async () => {
  await runtimes?.[Symbol.asyncDispose]();
  proxy?.[Symbol.dispose]();
  await server?.[Symbol.asyncDispose]();
  await model?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  proxy.fateOf = () => ({});
});

const runtimeOf = (name: string): Runtime => runtimes.all.find((one) => one.name === name)!;

/** Starts a program whose requests go through the proxy. */
const start = (name: string, program: Program, args: Json = null, options: object = {}): RunningProgram =>
  runtimeOf(name).start(program, { url: proxy.url, apiKey: server.keys.test, args, options });

const isRun = ({ method, path }: { method: string; path: string }): boolean => method === "POST" && path === "/v1/runs";
const isEvents = ({ path }: { path: string }): boolean => /^\/v1\/runs\/run_\w+\/events/.test(path);

/** Returns the event's place in the journal. A request within an answer has the length of the text before it, too. */
const seqOf = ({ id }: Json): number => Number.parseInt(id, 10);

/** Expects every journaled event once and in order, one end, and the run's text. */
async function expectWhole({ runId, events, text }: Json): Promise<void> {
  const { data } = (await server.get(`/v1/runs/${runId}/events?limit=100`)).body;
  const journaled = events.filter(({ event }: Json) => event !== "token");
  expect(journaled.map(({ event }: Json) => event)).toEqual(data.map(({ event }: Json) => event));
  expect(journaled.map(seqOf)).toEqual(data.map(({ seq }: Json) => seq));
  const ends = events.filter(({ event }: Json) => ["run.completed", "run.failed"].includes(event));
  expect(ends).toEqual([events.at(-1)]);
  expect(text).toBe((await server.get(`/v1/runs/${runId}`)).body.output);
}

/** Reads a stream to its end and reports each event. */
const readStream: Program = async ({ runnel, args, say }) => {
  const { body, follow, options } = args;
  const stream = follow ? runnel.runs.follow(follow, options) : runnel.runs.stream(body, options);
  const events: Json[] = [];
  for await (const { event, id } of stream) {
    events.push({ event, id });
    say(event);
  }
  return { runId: stream.runId, events, text: stream.text };
};

/** Reads a stream to its end, with the text of each event. */
const readPieces: Program = async ({ runnel, args, say }) => {
  const { body, follow, options } = args;
  const stream = follow ? runnel.runs.follow(follow, options) : runnel.runs.stream(body, options);
  const events: Json[] = [];
  for await (const { event, id, data } of stream) {
    events.push({ event, id, delta: data.delta });
    say(event);
  }
  return { runId: stream.runId, events, text: stream.text };
};

/** Creates an agent that writes 150 words in about four seconds. */
const createSpeaker = (more: object = {}): Promise<string> =>
  createScripted(server, [{ text: wordsOf(150), delta_ms: 25, ...more }]);

describe.each(["node", "bun", "deno", "browser"])("the client in %s", (name) => {
  const test = plainTest.skipIf(name === "deno" && !deno);

  test("has resources, pages as iterators in both directions, and errors with a link to the documentation", async () => {
    const program: Program = async ({ library, runnel }) => {
      const label = `clients ${crypto.randomUUID()}`;
      const ids: string[] = [];
      for (let index = 0; index < 5; index++) {
        const body = { name: `agent ${index}`, instructions: "Be brief.", model: "test/echo", metadata: { label } };
        ids.push((await runnel.agents.create(body)).id);
      }
      const query = { limit: 2, metadata: { label } };
      const forward: string[] = [];
      for await (const agent of runnel.agents.list(query)) forward.push(agent.id);
      const back = (await runnel.agents.list({ ...query, ending_before: ids[0] }).toArray()).map(({ id }: Json) => id);
      const page = await runnel.agents.list(query);
      const updated = await runnel.agents.update(ids[0], { name: "renamed" });
      const versions = await runnel.agents.versions.list(ids[0]).toArray();
      const first = await runnel.agents.versions.retrieve(ids[0], 1);
      const caught = async (promise: Promise<unknown>) =>
        await promise.then(
          () => null,
          (error: Json) => ({
            kinds: [error.name, error instanceof library.APIError, error instanceof library.RunnelError],
            status: error.status,
            code: error.code,
            requestId: error.requestId,
            docUrl: error.docUrl,
            params: error.errors.map(({ param }: Json) => param),
          }),
        );
      const missing = await caught(runnel.agents.retrieve("agt_00000000000000000000000000"));
      const invalid = await caught(runnel.agents.create({ name: "", instructions: 1, model: "test/echo" }));
      for (const id of ids) await runnel.agents.delete(id);
      const deleted = await caught(runnel.agents.retrieve(ids[0]));
      const unknown = await caught(
        new library.Runnel({ baseUrl: runnel.baseUrl, apiKey: "sk_test_unknown" }).me.retrieve(),
      );
      return { ids, forward, back, page, updated, versions, first, missing, invalid, deleted, unknown };
    };
    const told = await start(name, program).result;
    expect(told.forward).toEqual(told.ids.toReversed());
    expect(told.back).toEqual(told.ids.slice(1));
    expect(told.page).toMatchObject({ has_more: true, data: [{ id: told.ids[4] }, { id: told.ids[3] }] });
    expect(told.updated).toMatchObject({ name: "renamed", version: 2 });
    expect([told.versions.length, told.first.name]).toEqual([2, "agent 0"]);
    expect(told.missing).toMatchObject({ status: 404, code: "resource_not_found" });
    expect(told.missing.kinds).toEqual(["NotFoundError", true, true]);
    expect(told.missing.requestId).toMatch(/^req_/);
    expect(told.missing.docUrl).toContain("/docs/");
    expect(told.invalid).toMatchObject({ status: 400, code: "validation_failed" });
    expect(told.invalid.params).toEqual(expect.arrayContaining(["name", "instructions"]));
    expect(told.deleted.status).toBe(404);
    expect(told.unknown.kinds[0]).toBe("AuthenticationError");
  });

  test("retries a lost request under the same key, waits as long as told, and gives up where it should", async () => {
    const create: Program = async ({ runnel }) => {
      const body = { name: "retried", instructions: "Be brief.", model: "test/echo", metadata: {} };
      const error = (await runnel.agents.create(body).catch((error: unknown) => error)) as Json;
      return { id: error.id, name: error.name, status: error.status, message: error.message };
    };
    const isCreate = (path: string): boolean => path === "/v1/agents";
    const first = (fate: RequestFault) => {
      let count = 0;
      proxy.fateOf = ({ path }) => (isCreate(path) && count++ === 0 ? fate : {});
    };
    const attempts = () => proxy.requests.filter(({ path }) => isCreate(path));
    const agents = async (): Promise<number> => (await server.get("/v1/agents?limit=100")).body.data.length;

    const before = await agents();
    first({ loseResponse: true });
    expect((await start(name, create).result).id).toMatch(/^agt_/);
    expect(attempts()).toHaveLength(2);
    expect(new Set(attempts().map(({ key }) => key)).size).toBe(1);
    expect(await agents()).toBe(before + 1);

    first({ respond: { status: 429, headers: { "retry-after": "1" }, body: "" } });
    expect((await start(name, create).result).id).toMatch(/^agt_/);
    expect(attempts()).toHaveLength(2);

    first({ respond: { status: 429, headers: { "retry-after": "3600" }, body: "" } });
    expect(await start(name, create).result).toMatchObject({ name: "RateLimitError", status: 429 });
    expect(attempts()).toHaveLength(1);

    proxy.fateOf = ({ path }) => (isCreate(path) ? { respond: { status: 503, body: "" } } : {});
    expect(await start(name, create, null, { maxRetries: 1 }).result).toMatchObject({ name: "InternalServerError" });
    expect(attempts()).toHaveLength(2);

    proxy.fateOf = ({ path }) => (isCreate(path) ? { silentAfter: 0 } : {});
    const late = await start(name, create, null, { timeoutMs: 500, maxRetries: 0 }).result;
    expect(late).toMatchObject({ name: "APITimeoutError" });
    proxy.fateOf = () => ({});
  });

  test("aborts with its signal, with the signal's reason", async () => {
    const program: Program = async ({ runnel, args: { agent_id } }) => {
      const reasonOf = async (work: (signal: AbortSignal) => Promise<unknown>, ms: number) => {
        const abort = new AbortController();
        setTimeout(() => abort.abort(new Error("enough")), ms);
        return await work(abort.signal).then(
          () => "done",
          (error: Error) => error.message,
        );
      };
      return [
        await reasonOf((signal) => runnel.runs.create({ agent_id, input: "Go" }, { wait: 30 }, { signal }), 300),
        await reasonOf((signal) => runnel.runs.stream({ agent_id, input: "Go" }, { signal }).done(), 300),
        await reasonOf((signal) => runnel.runs.run(agent_id, "Go", { signal }), 300),
        await reasonOf(() => runnel.me.retrieve({ signal: AbortSignal.abort(new Error("never")) }), 0),
      ];
    };
    const agent_id = await createSpeaker({ delay_ms: 600_000 }); // The agent never answers before the client aborts.
    expect(await start(name, program, { agent_id }).result).toEqual(["enough", "enough", "enough", "never"]);
    const { data } = (await server.get(`/v1/runs?agent_id=${agent_id}`)).body;
    // Otherwise these runs would continue after the kills below.
    for (const { id } of data) await server.post(`/v1/runs/${id}/cancel`, {});
  });

  test("uploads a file and reads it back, and uploads it once though the response is lost", async () => {
    const program: Program = async ({ runnel, args }) => {
      const content = new File(["A page about Oslo.\n", "blå"], 'pa"ge.txt', { type: "text/plain" });
      const file = await runnel.files.upload(content, { purpose: "attachment", metadata: args });
      const named = await runnel.files.upload("{}", { filename: "empty.json", purpose: "attachment" });
      const nameless = await Promise.resolve()
        .then(() => runnel.files.upload(new Blob(["x"]), { purpose: "attachment" }))
        .catch((error: Error) => error.message);
      const text = await (await runnel.files.content(file.id)).text();
      const range = await runnel.files.content(file.id, { headers: { range: "bytes=2-5" } });
      return { file, named, nameless, text, range: [range.status, await range.text()] };
    };
    let lost = 0;
    proxy.fateOf = ({ method, path }) =>
      method === "POST" && path === "/v1/files" && lost++ === 0 ? { loseResponse: true } : {};
    const label = crypto.randomUUID();
    const told = await start(name, program, { label }).result;
    expect(told.file).toMatchObject({ filename: 'pa"ge.txt', purpose: "attachment", metadata: { label } });
    expect(told.named).toMatchObject({ filename: "empty.json", bytes: 2 });
    expect(told.nameless).toContain("filename");
    expect(told.text).toBe("A page about Oslo.\nblå");
    expect(told.range).toEqual([206, "page"]);
    expect((await server.get(`/v1/files?metadata[label]=${label}`)).body.data).toHaveLength(1);
  });

  test("verifies webhooks: genuine ones of the old and the new secret pass, forged and outdated ones fail", async () => {
    const program: Program = async ({ library, runnel, args }) => {
      const results = [];
      for (const { body, headers, secret } of args) {
        const event = await runnel.webhooks.verify(body, headers, secret).catch((error: unknown) => error);
        results.push(event instanceof library.WebhookVerificationError ? `refused: ${event.message}` : event.type);
        const bytes = new TextEncoder().encode(body);
        const same = await runnel.webhooks.verify(bytes, new Headers(headers), secret).catch((error: unknown) => error);
        if (String(same.type) !== String(event.type)) throw new Error("The forms of a request differ.");
      }
      return results;
    };
    await using receiver = startWebhookReceiver();
    const webhook = (await server.post("/v1/webhooks", { url: receiver.url, events: ["run.completed"] })).body;
    const { secret: newer } = (await server.post(`/v1/webhooks/${webhook.id}/rotate_secret`, {})).body;
    const run = await runToEnd(server, await createAgent(server, "test/echo"));
    // A run of another runtime may have ended before the secret was rotated.
    const own = () => receiver.received.find(({ body }) => body.includes(run.id));
    await waitUntil(() => own() !== undefined);
    await server.fetch(`/v1/webhooks/${webhook.id}`, { method: "DELETE" });
    const { body, headers } = own() as Json;
    const secret = webhook.secret;
    const upper = Object.fromEntries(Object.entries(headers).map(([key, value]) => [key.toUpperCase(), value]));
    const old = String(Math.floor(Date.now() / 1000) - 301);
    const resigned = new Webhook(secret).sign(headers["webhook-id"], new Date(Number(old) * 1000), body);
    const other = `whsec_${btoa("x".repeat(32))}`;
    const without = { ...headers };
    delete without["webhook-id"];
    const told = await start(name, program, [
      { body, headers, secret },
      { body, headers, secret: newer },
      { body, headers: upper, secret: [other, newer] },
      { body, headers, secret: other },
      { body, headers, secret: "" },
      { body: body.replace("run.completed", "run.failed"), headers, secret },
      { body, headers: { ...headers, "webhook-timestamp": old, "webhook-signature": resigned }, secret },
      { body, headers: { ...headers, "webhook-signature": "v1,AAAA v2,%%%" }, secret },
      { body, headers: without, secret },
    ]).result;
    expect(told.slice(0, 3)).toEqual(["run.completed", "run.completed", "run.completed"]);
    for (const refused of told.slice(3)) expect(refused).toStartWith("refused: ");
  });

  describe("streams a run", () => {
    test("through two kill -9 of the server", async () => {
      model.hold();
      const running = start(name, readStream, {
        body: { agent_id: await createAgent(server, "half-150-20"), input: "Go" },
      });
      await running.heard(20);
      await server.kill9();
      await server.restart();
      for (let words: Json[] = []; !words.includes("step.restarted"); ) words = await running.heard(words.length + 1);
      await server.kill9();
      model.release();
      await server.restart();
      const told = await running.result;
      await expectWhole(told);
      expect(told.events.filter(({ event }: Json) => event === "run.recovered")).toHaveLength(2);
      expect((await server.get(`/v1/runs/${told.runId}`)).body.output).toBe(wordsOf(150));
    });

    test("over connections that are cut at any byte, and starts the run once", async () => {
      let cuts = 0;
      // Each connection lasts longer than the one before, because a client retries forever only while it makes
      // progress.
      proxy.fateOf = (request) =>
        (isRun(request) || isEvents(request)) && cuts++ < 8 ? { cutAfter: 17 + cuts * 331 } : {};
      const body = { agent_id: await createSpeaker({ delta_ms: 5 }), input: "Go" };
      const told = await start(name, readStream, { body }).result;
      await expectWhole(told);
      expect(cuts).toBeGreaterThan(4);
      const runs = (await server.get(`/v1/runs?agent_id=${body.agent_id}`)).body.data;
      expect(runs).toHaveLength(1);
    });

    test("over a connection that goes silent, and after the first response is lost", async () => {
      let fates: RequestFault[] = [{ silentAfter: 2000 }];
      proxy.fateOf = (request) => (isRun(request) || isEvents(request) ? (fates.shift() ?? {}) : {});
      const body = { agent_id: await createSpeaker({ delta_ms: 5 }), input: "Go" };
      await expectWhole(await start(name, readStream, { body, options: { silenceMs: 3000 } }).result);
      fates = [{ loseResponse: true }, { loseResponse: true }, { cutAfter: 0 }];
      await expectWhole(await start(name, readStream, { body }).result);
      expect(fates).toEqual([]);
      expect((await server.get(`/v1/runs?agent_id=${body.agent_id}`)).body.data).toHaveLength(2);
    });

    test("that is over, from any position; after its end there are no events", async () => {
      const { id } = await runToEnd(server, await createAgent(server, "test/echo"));
      const whole = await start(name, readStream, { follow: id }).result;
      await expectWhole(whole);
      const after = (lastEventId: string) => start(name, readStream, { follow: id, options: { lastEventId } }).result;
      expect((await after(whole.events[1].id)).events).toEqual(whole.events.slice(2));
      expect(await start(name, readStream, { follow: id, options: { slim: true } }).result).toEqual(whole);
      expect((await after(whole.events.at(-1).id)).events).toEqual([]);
    });

    test("through a message and a pause, and from any position between them", async () => {
      const agent_id = await createScripted(server, [{ text: wordsOf(60), delta_ms: 25 }, { text: "Done." }]);
      const running = start(name, readPieces, { body: { agent_id, input: "Go" } });
      await running.heard(12);
      const { id } = (await server.get(`/v1/runs?agent_id=${agent_id}`)).body.data[0];
      expect((await server.post(`/v1/runs/${id}/messages`, { role: "user", content: "More." })).status).toBe(200);
      expect((await server.post(`/v1/runs/${id}/pause`, {})).status).toBe(200);
      for (let words: Json[] = []; !words.includes("run.paused"); ) words = await running.heard(words.length + 1);
      await server.post(`/v1/runs/${id}/resume`, {});
      const whole = await running.result;
      await expectWhole(whole);
      const journaled = whole.events
        .map(({ event }: Json) => event)
        .filter((event: string) => /steer|pause|resume/.test(event));
      expect(journaled).toEqual(["run.steered", "run.pause_requested", "run.paused", "run.resumed"]);
      const asRead = (events: Json[]) => [
        events.filter(({ event }) => event !== "token").map(seqOf),
        events.map(({ delta }) => delta).join(""),
      ];
      const place = whole.events.findIndex(({ event }: Json) => event === "run.steered");
      for (const at of [place - 1, place, place + 2, whole.events.length - 3]) {
        const options = { lastEventId: whole.events[at].id };
        const { events } = await start(name, readPieces, { follow: id, options }).result;
        expect([at, ...asRead(events)]).toEqual([at, ...asRead(whole.events.slice(at + 1))]);
      }
    });

    test("and reports at once an unknown run or an unreachable server", async () => {
      const program: Program = async ({ library, runnel }) => {
        const nameOf = (stream: Json) => stream.done().catch((error: Error) => error.name);
        const nowhere = new library.Runnel({ baseUrl: "http://127.0.0.1:9", apiKey: "sk_test_1" });
        return [
          await nameOf(runnel.runs.follow("run_00000000000000000000000000")),
          await nameOf(runnel.runs.stream({ agent_id: "agt_00000000000000000000000000", input: "Go" })),
          await nameOf(nowhere.runs.stream({ agent_id: "agt_1", input: "Go" }, { patienceMs: 100 })),
        ];
      };
      expect(await start(name, program).result).toEqual(["NotFoundError", "BadRequestError", "APIConnectionError"]);
    });
  });

  describe("runs an agent whose tools are functions", () => {
    const calls = (...names: string[]) => ({
      tool_calls: names.map((name) => ({ name, arguments: { city: "Oslo" } })),
    });
    const unique = (): string => crypto.randomUUID().slice(0, 8);
    /** Creates an agent that makes these calls at once, and then says goodbye. */
    async function createAsking(tools: Record<string, object>, ...turns: object[]): Promise<string> {
      const ids = await Promise.all(
        Object.entries(tools).map(async ([name, more]) => (await createTool(server, { name, ...more })).id),
      );
      return createScripted(server, [...turns, { text: "It is clear." }], { tools: ids });
    }
    const outputsOf = async (runId: string): Promise<Json[]> =>
      (await server.get(`/v1/runs/${runId}`)).body.tool_calls.map(({ output, error, status }: Json) => [
        status,
        output,
        error?.message,
      ]);

    test("several at once; a thrown error is read by the model", async () => {
      const [weather, broken, empty] = ["weather", "broken", "empty"].map((word) => `${word}_${unique()}`) as string[];
      const tools = { [weather!]: {}, [broken!]: {}, [empty!]: {} };
      const agent_id = await createAsking(tools, calls(weather!, broken!, empty!, weather!));
      const program: Program = async ({ runnel, args: { agent_id, weather, broken, empty } }) => {
        const seen: Json[] = [];
        const events: string[] = [];
        const run = await runnel.runs.run({ id: agent_id }, "How is the weather?", {
          tools: {
            [weather]: async ({ city }: Json, { tool_call_id, signal }: Json) => {
              seen.push([city, tool_call_id.slice(0, 5), signal.aborted]);
              await new Promise((resolve) => setTimeout(resolve, 50));
              return { sky: "clear", city };
            },
            [broken]: () => {
              throw new Error("The thermometer is broken.");
            },
            [empty]: () => {},
          },
          metadata: { a: "b" },
          onEvent: ({ event }: Json) => events.push(event),
        });
        return { run, seen, events };
      };
      const told = await start(name, program, { agent_id, weather, broken, empty }).result;
      expect(told.run).toMatchObject({ status: "completed", output: "It is clear.", metadata: { a: "b" } });
      expect(told.seen).toEqual([
        ["Oslo", "call_", false],
        ["Oslo", "call_", false],
      ]);
      expect(told.events).toContain("run.requires_action");
      const clear = ["completed", { sky: "clear", city: "Oslo" }, undefined];
      expect(await outputsOf(told.run.id)).toEqual([
        clear,
        ["failed", null, "The thermometer is broken."],
        ["completed", null, undefined],
        clear,
      ]);
    });

    test("that are sent with the run, and answers them while a stream is read", async () => {
      const agent_id = await createScripted(server, [calls("weather", "broken"), { text: "It is clear." }], {});
      const program: Program = async ({ library, runnel, args: { agent_id } }) => {
        const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
        const weather = library.tool({
          name: "weather",
          description: "The weather.",
          parameters,
          run: ({ city }: Json) => ({ city }),
        });
        const broken = library.tool({
          name: "broken",
          run: () => {
            throw new Error("It is broken.");
          },
        });
        const run = await runnel.runs.run(agent_id, "Go", { tools: [weather, broken] });
        const stream = runnel.runs.stream({ agent_id, input: "Go", tools: [weather, broken] });
        await stream.done();
        // Another client answers what this stream does not.
        const others = { type: "client", name: "broken" };
        const shared = runnel.runs.stream({ agent_id, input: "Go", tools: [weather, others] });
        for await (const { event, data } of shared) {
          if (event !== "run.requires_action") continue;
          const { tool_calls } = data.required_action.submit_tool_outputs;
          const call = tool_calls.find(({ name }: Json) => name === "broken");
          const tool_outputs = call && [{ tool_call_id: call.tool_call_id, output: 1 }];
          if (call) await runnel.runs.submitToolOutputs(shared.runId, { tool_outputs });
        }
        return { run, streamed: stream.runId, text: stream.text, shared: shared.runId };
      };
      const told = await start(name, program, { agent_id }).result;
      const expected = [
        ["completed", { city: "Oslo" }, undefined],
        ["failed", null, "It is broken."],
      ];
      expect(told).toMatchObject({ run: { output: "It is clear." }, text: "It is clear." });
      expect(await outputsOf(told.run.id)).toEqual(expected);
      expect(await outputsOf(told.streamed)).toEqual(expected);
      expect(await outputsOf(told.shared)).toEqual([expected[0], ["completed", 1, undefined]]);
    });

    test("and names a missing one before it calls any", async () => {
      const [known, missing] = [`known_${unique()}`, `missing_${unique()}`];
      const agent_id = await createAsking({ [known]: {}, [missing]: {} }, calls(known, missing));
      const program: Program = async ({ library, runnel, args: { agent_id, known } }) => {
        let called = 0;
        const error = await runnel.runs
          .run(agent_id, "Go", { tools: { [known]: () => called++ } })
          .catch((e: Json) => e);
        const { message, run, runId } = error;
        return {
          called,
          message,
          isKnown: error instanceof library.ActionRequiredError,
          run,
          isItsRun: run.id === runId,
        };
      };
      const told = await start(name, program, { agent_id, known }).result;
      expect(told).toMatchObject({ called: 0, isKnown: true, isItsRun: true, run: { status: "requires_action" } });
      expect(told.message).toContain(missing);
    });

    test("decides approvals, and answers calls of an agent's subagents", async () => {
      const [pay, look, ask] = ["pay", "look", "ask"].map((word) => `${word}_${unique()}`) as string[];
      const approval = { approval: "always" };
      const helper = await createAsking({ [pay!]: approval, [look!]: {} }, calls(pay!, look!), calls(pay!));
      const agentTool = { type: "agent", agent_id: helper, parameters: undefined };
      const agent_id = await createAsking(
        { [ask!]: agentTool },
        {
          tool_calls: [{ name: ask, arguments: { input: "Do it." } }],
        },
      );
      const program: Program = async ({ runnel, args: { agent_id, pay, look } }) => {
        const decided: Json[] = [];
        const called: Json[] = [];
        const run = await runnel.runs.run(agent_id, "Go", {
          tools: {
            [pay]: (args: Json, call: Json) => called.push([args, call.run_id !== undefined]),
            [look]: () => "blue",
          },
          decide: ({ needs, name: tool }: Json) => {
            decided.push([needs, tool]);
            return decided.length === 1
              ? { decision: "approve", arguments: { city: "Bergen" } }
              : { decision: "reject", reason: "Once is enough." };
          },
        });
        return { run, decided, called };
      };
      const told = await start(name, program, { agent_id, pay, look }).result;
      expect(told.run).toMatchObject({ status: "completed", output: "It is clear." });
      expect(told.decided).toEqual([
        ["approval", pay],
        ["approval", pay],
      ]);
      expect(told.called).toEqual([[{ city: "Bergen" }, true]]);
    });

    test("calls a function once, though the server dies before it takes the output and the first response is lost", async () => {
      const slow = `slow_${unique()}`;
      const agent_id = await createAsking({ [slow]: {} }, calls(slow));
      const program: Program = async ({ runnel, args: { agent_id, slow }, say }) => {
        let called = 0;
        const answer = async () => {
          say("called");
          await new Promise((resolve) => setTimeout(resolve, 1000));
          return ++called;
        };
        return [await runnel.runs.run(agent_id, "Go", { tools: { [slow]: answer } }), called];
      };
      let lost = 0;
      proxy.fateOf = ({ path }) => (path.endsWith("/submit_tool_outputs") && lost++ < 2 ? { loseResponse: true } : {});
      const running = start(name, program, { agent_id, slow });
      await running.heard(1);
      await server.kill9();
      await server.restart();
      const [run, called] = await running.result;
      expect([run.status, called]).toEqual(["completed", 1]);
      expect(await outputsOf(run.id)).toEqual([["completed", 1, undefined]]);
      expect(lost).toBeGreaterThan(2);
    });

    test("and whose message steers a run answers the calls for which that run waits", async () => {
      const tool = `asked_${unique()}`;
      const agent_id = await createAsking({ [tool]: {} }, calls(tool));
      const thread_id = (await server.post("/v1/threads", {})).body.id;
      const { id } = await runToEnd(server, agent_id, { thread_id });
      const program: Program = async ({ runnel, args: { agent_id, thread_id, tools } }) => {
        const functions = Object.fromEntries(tools.map((name: string) => [name, () => "blue"]));
        const options = { thread_id, if_thread_busy: "steer", tools: functions };
        const run = await runnel.runs.run(agent_id, "More.", options).catch((error: Error) => error);
        return [run.id ?? run.name, run.status ?? run.message];
      };
      const without = await start(name, program, { agent_id, thread_id, tools: [] }).result;
      expect(without).toEqual(["ActionRequiredError", expect.stringContaining(tool)]);
      expect(await start(name, program, { agent_id, thread_id, tools: [tool] }).result).toEqual([id, "completed"]);
    });

    test("an error of onEvent ends the run's watching, and tells during which run it happened", async () => {
      const agent_id = await createScripted(server, [{ text: "Done." }]);
      const program: Program = async ({ runnel, args: { agent_id } }) => {
        const fails = () => {
          throw new TypeError("mine");
        };
        const error = await runnel.runs.run(agent_id, "Go", { onEvent: fails }).catch((error: Json) => error);
        return [error.name, error.message, error.runId];
      };
      const told = await start(name, program, { agent_id }).result;
      expect(told.slice(0, 2)).toEqual(["TypeError", "mine"]);
      expect((await server.get(`/v1/runs/${told[2]}`)).body.agent_id).toBe(agent_id);
    });

    test("tells of a pause, waits until the run is resumed, and answers the calls after it", async () => {
      const tool = `paused_${unique()}`;
      const agent_id = await createAsking({ [tool]: {} }, calls(tool));
      const program: Program = async ({ runnel, args: { agent_id, tool }, say }) => {
        const answer = async (_: Json, { tool_call_id: id }: Json) => {
          const run = (await runnel.runs.list({ agent_id, limit: 1 })).data[0];
          await runnel.runs.steer(run.id, { role: "user", content: "Hurry." });
          await runnel.runs.pause(run.id);
          return id;
        };
        const onEvent = ({ event, data }: Json) => event === "run.paused" && say(data.id);
        const run = await runnel.runs.run(agent_id, "Go", { tools: { [tool]: answer }, onEvent });
        return [
          run.status,
          run.messages.map(({ content }: Json) => content).filter((text: string) => text === "Hurry."),
        ];
      };
      const running = start(name, program, { agent_id, tool });
      const [id] = await running.heard(1);
      expect((await server.get(`/v1/runs/${id}`)).body.status).toBe("paused");
      await server.post(`/v1/runs/${id}/resume`, {});
      expect(await running.result).toEqual(["completed", ["Hurry."]]);
    });

    test("continues when another client has answered, and stops when the run is cancelled", async () => {
      const slow = `slow_${unique()}`;
      const agent_id = await createAsking({ [slow]: {} }, calls(slow));
      const program: Program = async ({ runnel, args: { agent_id, slow }, say }) => {
        const answer = async (_: Json, { tool_call_id: id }: Json) => {
          say(id);
          const newest = async () => (await runnel.runs.list({ agent_id, limit: 1 })).data[0];
          while ((await newest()).status === "requires_action") await new Promise((resolve) => setTimeout(resolve, 50));
          return "late";
        };
        const error = await runnel.runs.run(agent_id, "Go", { tools: { [slow]: answer } }).catch((e: Json) => e);
        return { name: error.name, status: (error.run ?? error).status, code: (error.run ?? error).error?.code };
      };
      const answered = start(name, program, { agent_id, slow });
      const [id] = await answered.heard(1);
      const latest = async (): Promise<string> => (await server.get(`/v1/runs?agent_id=${agent_id}`)).body.data[0].id;
      const tool_outputs = [{ tool_call_id: id, output: "early" }];
      expect((await server.post(`/v1/runs/${await latest()}/submit_tool_outputs`, { tool_outputs })).status).toBe(200);
      expect(await answered.result).toMatchObject({ status: "completed" });
      const cancelled = start(name, program, { agent_id, slow });
      await cancelled.heard(1);
      await server.post(`/v1/runs/${await latest()}/cancel`, {});
      expect(await cancelled.result).toEqual({ name: "RunFailedError", status: "cancelled", code: "run_cancelled" });
    });
  });
});

plainTest.each(["node", "bun"])("the package's readme runs in %s as it stands, twice", async (name) => {
  const readme = await Bun.file(inProject("server/sdks/typescript/README.md")).text();
  const file = `${server.folder}/ca-of-readme-${name}.pem`;
  await Bun.write(file, server.ca!);
  const environment = { RUNNEL_URL: server.url, RUNNEL_API_KEY: server.keys.test, RUNNEL_CACERT: file };
  for (const _ of [1, 2]) {
    const said = await runtimes.runFile(name as "node" | "bun", programOf(readme, "ts")!, environment);
    expect(said).toContain("How is the weather in Oslo?");
    expect(said).toContain("completed");
    expect(said).toContain("resource_not_found");
  }
});

describe.each(["node", "bun", "deno"])("a server that signed its own certificate, from %s", (name) => {
  const test = plainTest.skipIf(name === "deno" && !deno);

  const me: Program = async ({ runnel }) => {
    const answer = await runnel.me.retrieve().catch((error: Error) => ({ name: error.name, message: error.message }));
    return answer.name ? answer : answer.object;
  };
  const from = (options: object, environment: Record<string, string> = {}): Promise<Json> =>
    runtimeOf(name).start(me, { url: server.url, apiKey: server.keys.test, options, environment }).result;

  test("is trusted by `ca` and by RUNNEL_CACERT, and is otherwise named as the cause", async () => {
    const file = `${server.folder}/ca-of-${name}.pem`;
    await Bun.write(file, server.ca!);
    const trusted = await from({ ca: server.ca });
    expect(trusted).toBe("me");
    expect(await from({}, { RUNNEL_CACERT: file })).toBe("me");
    const refused = await from({});
    expect(refused.name).toBe("CertificateError");
    expect(refused.message).toContain("RUNNEL_CACERT");
  });

  test("streams, and takes files, over TLS", async () => {
    const program: Program = async ({ library, args }) => {
      const runnel = new library.Runnel(); // All settings come from the environment.
      let text = "";
      for await (const delta of runnel.runs.stream({ agent_id: args, input: "Hello over TLS" }).textDeltas())
        text += delta;
      const file = await runnel.files.upload(new Blob(["x".repeat(300_000)]), {
        filename: "x.txt",
        purpose: "attachment",
      });
      const content = await (await runnel.files.content(file.id)).text();
      return [text, content.length];
    };
    const agent_id = await createAgent(server, "test/echo");
    const file = `${server.folder}/ca-of-${name}.pem`;
    await Bun.write(file, server.ca!);
    const environment = { RUNNEL_URL: server.url, RUNNEL_API_KEY: server.keys.test, RUNNEL_CACERT: file };
    const start = { url: server.url, apiKey: server.keys.test, args: agent_id, environment };
    const [text, length] = await runtimeOf(name).start(program, start).result;
    expect(text).toContain("Hello over TLS");
    expect(length).toBe(300_000);
  });
});
