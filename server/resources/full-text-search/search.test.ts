import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { firstIdAt, newId } from "../../domain/ids.ts";
import { vecLibrary } from "../../lib/assets.ts";
import { silentLog } from "../../lib/log.ts";
import { openDatabase } from "../../storage/db/open.ts";
import { type Client, testApp } from "../../testing/test-app.ts";
import { turnsDuring } from "../../testing/turns.ts";
import { createDocuments } from "./documents.ts";
import { placeOf } from "./facets.ts";

const server = testApp();
let client: Client;
let other: Client;
beforeAll(async () => {
  client = await server.client();
  other = await server.client({ project: "other" });
  const limits = { writes_per_minute: 1e6, run_creations_per_minute: 1e6, reads_per_minute: 1e6 };
  for (const { scope } of [client, other]) await server.projects.update(scope.project_id, { limits });
});
afterAll(() => server[Symbol.asyncDispose]());

const unique = () => `w${newId("run").slice(14)}`;
const agentOf = async (by: Client, more: object = {}): Promise<string> =>
  (await by.post("/v1/agents", { name: "a", instructions: "Say.", model: "test/echo", ...more })).body.id;
const run = async (by: Client, input: string, more: object = {}): Promise<string> => {
  const { status, body } = await by.post("/v1/runs?wait=60", { agent_id: await agentOf(by), input, ...more });
  expect([status, body.error]).toEqual([201, null]);
  // Results are in the order in which the index took them.
  await server.search.catchUp();
  return body.id;
};
const settled = async (id: string): Promise<void> => {
  while ((await client.get(`/v1/runs/${id}`)).body.status === "in_progress") await Bun.sleep(5);
};
async function search(q: string, by = client, more = ""): Promise<string[]> {
  await server.search.catchUp();
  const { status, body } = await by.get(`/v1/search?q=${encodeURIComponent(q)}${more}`);
  expect([status, body.error]).toEqual([200, undefined]);
  return body.data.map((each: { id: string }) => each.id);
}

test("a disconnected client's search is not done, and is neither an error nor counted as one", async () => {
  const bugs: unknown[] = [];
  await using app = testApp({ log: { ...silentLog, error: (...bug) => void bugs.push(bug) } });
  const { key } = await app.client();
  const headers = { authorization: `Bearer ${key.secret}` };
  const ask = async (path: string, signal = new AbortController().signal) =>
    (await app.app.handle(new Request(`http://localhost/v1/${path}?q="one+two"`, { headers, signal }))).status;
  for (const path of ["runs", "runs/count", "search"])
    expect([path, await ask(path), await ask(path, AbortSignal.abort())]).toEqual([path, 200, 499]);
  expect(bugs).toEqual([]);
  expect((await app.send("GET", "/metrics")).body).not.toContain('http_response_status_code="5');
});

test("a run is found by its input, its output, its metadata and its user", async () => {
  const [asked, key, value, user] = [unique(), unique(), unique(), unique()];
  const id = await run(client, `Where is ${asked}?`, { user_id: user, metadata: { [key]: value } });
  for (const word of [asked, key, value, user]) expect(await search(word)).toEqual([id]);
});

test("a run is found by the arguments of its tool calls, by its error and by its output", async () => {
  const [word, said] = [unique(), unique()];
  const tool = (await client.post("/v1/tools", { name: unique(), type: "client" })).body;
  const script = [{ tool_calls: [{ name: tool.name, arguments: { city: word } }] }, { error: "model_error" }];
  const agent_id = await agentOf(client, { model: "test/script", model_settings: { script }, tools: [tool.id] });
  const { body } = await client.post("/v1/runs?wait=60", { agent_id, input: "Go." });
  const [call] = body.required_action.submit_tool_outputs.tool_calls;
  const path = `/v1/runs/${body.id}/submit_tool_outputs`;
  await client.post(path, { tool_outputs: [{ tool_call_id: call.tool_call_id, output: "x" }] });
  await settled(body.id);
  expect(await search(word)).toEqual([body.id]);
  expect(await search(`${word} model_error`)).toEqual([body.id]);
  const speaker = await agentOf(client, { model: "test/script", model_settings: { script: [{ text: said }] } });
  const spoken = (await client.post("/v1/runs?wait=60", { agent_id: speaker, input: "Go." })).body.id;
  expect(await search(said)).toEqual([spoken]);
});

test("all words must match, quoted words must be adjacent, and the last word may be a prefix", async () => {
  const [a, b, c] = [unique(), unique(), unique()];
  const id = await run(client, `${a} ${b} then ${c}`);
  expect(await search(`${c} ${a}`)).toEqual([id]);
  expect(await search(`${a} ${unique()}`)).toEqual([]);
  expect(await search(`"${a} ${b}"`)).toEqual([id]);
  expect(await search(`"${b} ${a}"`)).toEqual([]);
  expect(await search(`${a} ${b.slice(0, -2)}`)).toEqual([id]);
  expect(await search(`${a.slice(0, -2)} ${b}`)).toEqual([]);
  expect(await search(`${a.slice(0, -2)} `)).toEqual([]);
});

test("a prefix finds all of its words, with any accents, and a single letter is a word", async () => {
  const word = unique();
  const ids: string[] = [];
  for (const end of ["é", "e", "ement", "x"]) ids.unshift(await run(client, `Über ${word}${end} q`));
  expect(await search(`über ${word}E`)).toEqual(ids.slice(1));
  expect(await search(`ber-${word}`)).toEqual([]);
  expect(await search(`über-${word}`)).toEqual(ids);
  expect(await search(`${word}x ü`)).toEqual([]);
  expect(await search(`${word}x q`)).toEqual([ids[0]!]);
});

test("words are found with any case and accents, also within sentences without spaces", async () => {
  const word = unique();
  const id = await run(client, `Crème BRÛLÉE ${word} 東京の天気はどうですか`);
  expect(await search(`creme brulee ${word}`)).toEqual([id]);
  expect(await search(`${word} 天気`)).toEqual([id]);
  expect(await search(`${word} "気天"`)).toEqual([]);
});

test("every named resource is found by its name, at once after a rename, and not after its deletion", async () => {
  const made: Record<string, [path: string, body: (name: string) => object]> = {
    agent: ["/v1/agents", (name) => ({ name, instructions: "Say.", model: "test/echo" })],
    tool: ["/v1/tools", (name) => ({ name })],
    thread: ["/v1/threads", (title) => ({ title })],
    memory: ["/v1/memory", (name) => ({ name, kind: "kv", scope: "project" })],
    file: ["/v1/files", (name) => ({ filename: `${name}.txt`, text: "x", purpose: "attachment" })],
    webhook: ["/v1/webhooks", (description) => ({ url: "https://example.com/", events: ["*"], description })],
  };
  for (const [type, [path, body]] of Object.entries(made)) {
    const [before, after] = [unique(), unique()];
    const { id } = (await client.post(path, body(before))).body;
    expect([type, await search(before)]).toEqual([type, [id]]);
    expect(await search(before, client, `&types=${type}`)).toEqual([id]);
    expect(await search(before, client, "&types=run")).toEqual([]);
    expect(await search(before, other)).toEqual([]);
    if (type !== "file") {
      const { id: _, purpose: __, kind: ___, scope: ____, ...change } = body(after) as Record<string, unknown>;
      expect((await client.patch(`${path}/${id}`, change)).status).toBe(200);
      expect(await search(after)).toEqual([id]);
      expect(await search(before)).toEqual([]);
    }
    expect((await client.delete(`${path}/${id}`)).status).toBe(200);
    expect(await search(type === "file" ? before : after)).toEqual([]);
  }
});

test("an id is found by itself and by its prefix, of a run also while it is in progress", async () => {
  const id = await run(client, "Hello.");
  const mention = await run(client, `What came of ${id}?`);
  expect((await search(id)).slice(0, 2)).toEqual([id, mention]);
  expect(await search(id.toUpperCase())).toContain(id);
  expect(await search(id.slice(0, -3))).toContain(id);
  expect(await search(id, other)).toEqual([]);
  const page = (await client.get(`/v1/search?q=${id}&limit=1`)).body;
  expect([page.has_more, page.data[0].id]).toEqual([true, id]);
  expect(await search(id, client, `&limit=1&starting_after=${id}`)).toEqual([mention]);
  const agent_id = await agentOf(client, { model: "test/script", model_settings: { script: [{ delay_ms: 600_000 }] } });
  const working = (await client.post("/v1/runs", { agent_id, input: "Go." })).body.id;
  expect(await search(working)).toEqual([working]);
  await client.post(`/v1/runs/${working}/cancel`, {});
});

test("a run that was deleted, or whose user was erased, is removed from the index", async () => {
  const [word, user] = [unique(), unique()];
  const [one, two] = [await run(client, word), await run(client, word, { user_id: user })];
  expect(await search(word)).toEqual([two, one]);
  await client.delete(`/v1/runs/${one}`);
  expect(await search(word)).toEqual([two]);
  await client.delete(`/v1/users/${user}/data?wait=60`);
  expect(await search(word)).toEqual([]);
  const rows = server.db.sqlite.query("SELECT 1 FROM search_words WHERE search_words MATCH ?").all(`"${word}"`);
  expect(rows).toEqual([]);
  expect(server.db.sqlite.query("SELECT 1 FROM search_documents WHERE id IN (?, ?)").all(one, two)).toEqual([]);
  const kept = server.db.sqlite.query<{ block: Uint8Array }, []>("SELECT block FROM search_words_data").all();
  expect(kept.some(({ block }) => Buffer.from(block).includes(word))).toBe(false);
});

test("deleting a trace removes the arguments of the run's calls from the index; its output stays", async () => {
  const [word, input] = [unique(), unique()];
  const tool = (await client.post("/v1/tools", { name: unique(), type: "client" })).body;
  const script = [{ tool_calls: [{ name: tool.name, arguments: { city: word } }] }];
  const agent_id = await agentOf(client, { model: "test/script", model_settings: { script }, tools: [tool.id] });
  const { id } = (await client.post("/v1/runs?wait=60", { agent_id, input })).body;
  await client.post(`/v1/runs/${id}/cancel`, {});
  await settled(id);
  expect(await search(word)).toEqual([id]);
  expect((await client.delete(`/v1/traces/${id.replace("run", "trc")}`)).status).toBe(200);
  expect(await search(word)).toEqual([]);
  expect(await search(input)).toEqual([id]);
});

test("text that a guardrail masked is not found", async () => {
  const [word, hidden] = [unique(), `${unique()}@example.com`];
  const guardrails = [{ type: "pii", on: ["input"], action: "redact", config: { kinds: ["email"] } }];
  const agent_id = await agentOf(client, { guardrails });
  const { status, body } = await client.post("/v1/runs?wait=60", { agent_id, input: `${word} ${hidden}` });
  expect([status, body.error]).toEqual([201, null]);
  expect(await search(word)).toEqual([body.id]);
  expect(await search(hidden.split("@")[0]!)).toEqual([]);
});

test("a key restricted to agents finds their runs only", async () => {
  const [mine, others] = [await agentOf(client), await agentOf(client)];
  const word = unique();
  const own = (await client.post("/v1/runs?wait=60", { agent_id: mine, input: word })).body.id;
  await client.post("/v1/runs?wait=60", { agent_id: others, input: word });
  await client.post("/v1/threads", { title: word });
  const bound = await server.client({ agent_ids: [mine] });
  expect((await search(word)).length).toBe(3);
  expect(await search(word, bound)).toEqual([own]);
  expect(await search(own, bound)).toContain(own);
  expect(await search(others, bound)).toEqual([]);
});

test("a list continues after a page, without a gap or a repetition", async () => {
  const word = unique();
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) ids.unshift(await run(client, `${word} ${n}`));
  const first = await search(word, client, "&limit=2");
  const second = await search(word, client, `&limit=2&starting_after=${first[1]}`);
  const third = await search(word, client, `&limit=2&starting_after=${second[1]}`);
  expect([...first, ...second, ...third]).toEqual(ids);
});

describe("with hostile texts in the index", () => {
  /** Indexes texts as threads, and returns their ids, newest first. */
  async function indexed(by: Client, texts: readonly string[]): Promise<string[]> {
    const documents = createDocuments(server.db.sqlite);
    const now = Date.now();
    const ids = texts.map((_, at) => firstIdAt("thread", now + at));
    await server.db.write(() => {
      for (const [at, text] of texts.entries()) {
        const of = { ...by.scope, id: ids[at]!, created_at_ms: Date.now() };
        documents.put(of, "thread", placeOf(by.scope, "thread", null), { title: "", text });
      }
    });
    return ids.toReversed();
  }
  const path = (q: string) => `/v1/search?q=${encodeURIComponent(q)}&limit=100`;

  test("a word that a text contains ten thousand times is found as fast as others", async () => {
    const by = await server.client({ project: "repeats" });
    await indexed(by, ["a ".repeat(20_000)]);
    await by.get(path("b"));
    const before = process.cpuUsage();
    const { body } = await by.get(path("a"));
    const { user, system } = process.cpuUsage(before);
    expect(body.data.length).toBe(1);
    // It took three seconds when each position was compared with all others.
    expect((user + system) / 1000).toBeLessThan(500);
  });

  test("other requests are served during a phrase search for very frequent words", async () => {
    const by = await server.client({ project: "phrases" });
    await indexed(by, Array(1200).fill(`b ${"a ".repeat(3000)}`));
    const phrase = `"${"a ".repeat(31)}b"`;
    const { turns, result } = await turnsDuring(() => by.get(path(`${phrase} ${phrase}`)));
    expect(result.body.data).toEqual([]);
    expect(turns).toBeGreaterThan(20);
    expect((await by.get(path(`"b ${"a ".repeat(31)}"`))).body.data.length).toBe(100);
  });

  test("other requests are served while a run search filters thousands of matches down to none", async () => {
    const by = await server.client({ project: "lists" });
    const documents = createDocuments(server.db.sqlite);
    const now = Date.now();
    await server.db.write(() => {
      for (let at = 0; at < 60_000; at++) {
        const of = { ...by.scope, id: firstIdAt("run", now + at), created_at_ms: now };
        documents.put(of, "run", placeOf(by.scope, "run", null), { title: "", text: "word" });
      }
    });
    const { turns, result } = await turnsDuring(() => by.get("/v1/runs?q=word"));
    expect(result.body.data).toEqual([]);
    expect(turns).toBeGreaterThan(5);
  });

  test("a text that contains one word more than two thousand times is found by its other words too", async () => {
    const by = await server.client({ project: "often" });
    const [id] = await indexed(by, [`${"often ".repeat(5000)} end`]);
    for (const q of ["often", "end", '"often end"'])
      expect([q, (await by.get(path(q))).body.data[0]?.id]).toEqual([q, id]);
    server.db.sqlite.run("CREATE VIRTUAL TABLE IF NOT EXISTS temp.places USING fts5vocab(main, search_words, col)");
    const places = server.db.sqlite.query("SELECT cnt FROM temp.places WHERE term = 'often' AND col = 'text'");
    expect(places.get()).toEqual({ cnt: 2000 });
  });

  test("a search in several passes returns all results, in order, and once", async () => {
    const by = await server.client({ project: "goes" });
    const random = Array.from({ length: 400 }, (_, at) => (at * 7919) % 243);
    const texts = random.map((of) =>
      [...of.toString(3).padStart(5, "0")].map((digit) => "xyz"[Number(digit)]).join(" "),
    );
    const ids = await indexed(by, texts);
    const wanted = ids.filter((_, at) => texts.at(-1 - at)!.includes("x y"));
    const found: string[] = [];
    for (let after = ""; ; after = `&starting_after=${found.at(-1)}`) {
      const { body } = await by.get(path('"x y" '.repeat(12)) + after);
      found.push(...body.data.map((each: { id: string }) => each.id));
      if (!body.has_more) break;
    }
    expect(found).toEqual(wanted);
  });
});

describe("any text is a query", () => {
  const hostile = [
    '"',
    '""',
    '" OR *',
    "a AND",
    "NEAR(a b)",
    "place : x",
    "-",
    "^a",
    "*",
    "a*b",
    "{title} : a",
    "\u0000",
    "'",
    "(",
    "a:b",
    "💥",
    "\\",
    "%",
    'a"b"c',
    `${"x ".repeat(200)}`,
  ];
  test.each(hostile)("%p", async (q) => {
    expect((await client.get(`/v1/search?q=${encodeURIComponent(q)}`)).status).toBe(200);
  });
  test.each(["", "q=", `q=${"x".repeat(501)}`, "q=a&types=x", "q=a&types=run,", "q=a&starting_after=x", "q=a&limit=0"])(
    "an invalid query is refused: %p",
    async (query) => expect((await client.get(`/v1/search?${query}`)).status).toBe(400),
  );
});

test("a run is indexed when it ends, without a request", async () => {
  await using server = testApp();
  await server.recover();
  const client = await server.client();
  const id = await run(client, "Rumpelstilzchen");
  const found = async (): Promise<string[]> =>
    (await client.get("/v1/search?q=Rumpelstilzchen")).body.data.map((each: { id: string }) => each.id);
  while ((await found()).length === 0) await Bun.sleep(20);
  expect(await found()).toEqual([id]);
});

test("runs that a killed process did not index are indexed by the next one", async () => {
  const db = openDatabase(":memory:", { vecLibrary: vecLibrary("") });
  const word = unique();
  const first = testApp({ db });
  const id = await run(await first.client(), word);
  // This process ends without indexing; only the end of the run was written.
  const second = testApp({ db });
  await second.search.catchUp();
  const found = await (await second.client()).get(`/v1/search?q=${word}`);
  expect(found.body.data.map((each: { id: string }) => each.id)).toEqual([id]);
  const rounds = db.write.commits();
  await second.search.catchUp();
  expect(db.write.commits()).toBe(rounds);
});
