import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Client, testApp } from "../../testing/test-app.ts";

let at = 1_800_000_000_000;
const server = testApp({ now: () => at, dashboard: true, publicUrl: "https://runnel.test" });
let admin: Client;
beforeAll(async () => {
  admin = await server.client();
});
afterAll(() => server[Symbol.asyncDispose]());

const hidden = ["secret_tool", "Secret instructions", "test/script", "hidden argument", "hidden result"];

/** Creates an agent that thinks, calls a tool and answers: it has everything that a visitor must not see. */
async function makeAgent(): Promise<string> {
  const tool = await admin.post("/v1/tools", {
    name: "secret_tool",
    type: "code",
    source: "(args) => 'hidden result'",
  });
  const toolId = tool.body.id ?? (await admin.get("/v1/tools")).body.data[0].id;
  const script = [
    {
      reasoning: "Secret instructions say so.",
      tool_calls: [{ name: "secret_tool", arguments: { of: "hidden argument" } }],
    },
    { text: "Hello, visitor." },
  ];
  const { body } = await admin.post("/v1/agents", {
    name: "a",
    instructions: "Secret instructions",
    model: "test/script",
    tools: [toolId],
    model_settings: { script },
  });
  return body.id;
}

async function openPage(body: object = {}) {
  const agent_id = await makeAgent();
  const { status, body: page } = await admin.put(`/v1/agents/${agent_id}/chat_page`, { access: "link", ...body });
  expect([status, page.error ?? null]).toEqual([200, null]);
  return { agent_id, page, secret: new URL(page.url).hash.slice(1) };
}

const enter = (agent_id: string, body: object, headers: Record<string, string> = {}) =>
  server.send("POST", `/chat/${agent_id}/token`, body, headers);

const asking =
  (token: string) =>
  (method: string, path: string, body?: unknown, more: Record<string, string> = {}) =>
    server.send(method, path, body, { authorization: `Bearer ${token}`, ...more });

/** Opens a page as a visitor, with the cookie that the browser stores. */
async function visitor(agent_id: string, secret: string, cookie?: string) {
  const { status, body, headers } = await enter(agent_id, { secret }, cookie ? { cookie } : {});
  expect([status, body.error ?? null]).toEqual([200, null]);
  return { ...body, ask: asking(body.token), cookie: cookie ?? headers.get("set-cookie")!.split(";")[0]! };
}

test("an agent has no chat page by default, and a missing page looks like a wrong link", async () => {
  const agent_id = await makeAgent();
  expect((await admin.get(`/v1/agents/${agent_id}/chat_page`)).status).toBe(404);
  const none = await enter(agent_id, { secret: "x".repeat(43) });
  const { agent_id: other } = await openPage();
  const wrong = await enter(other, { secret: "x".repeat(43) });
  expect([none.status, wrong.status]).toEqual([404, 404]);
  expect(wrong.body.error).toEqual(none.body.error);
  expect((await enter(other, {})).status).toBe(404);
  const pages = [await server.send("GET", `/chat/${agent_id}`), await server.send("GET", `/chat/${other}`)];
  expect(pages[0]!.body).toBe(pages[1]!.body);
  expect(pages[0]!.headers.get("content-security-policy")).toContain("default-src 'none'");
});

test("renewing a link or closing a page ends its sessions at once", async () => {
  const { agent_id, secret } = await openPage();
  const one = await visitor(agent_id, secret);
  expect((await one.ask("POST", "/v1/threads", {})).status).toBe(201);
  const renewed = await admin.post(`/v1/agents/${agent_id}/chat_page/rotate`);
  expect(renewed.body.url).not.toContain(secret);
  expect((await one.ask("POST", "/v1/threads", {})).status).toBe(401);
  expect((await enter(agent_id, { secret })).status).toBe(404);
  const again = await visitor(agent_id, new URL(renewed.body.url).hash.slice(1), one.cookie);
  expect((await again.ask("POST", "/v1/threads", {})).status).toBe(201);
  expect((await admin.delete(`/v1/agents/${agent_id}/chat_page`)).status).toBe(200);
  expect((await again.ask("POST", "/v1/threads", {})).status).toBe(401);
});

test("a change of a page keeps its link and its visitors", async () => {
  const { agent_id, secret, page } = await openPage();
  const one = await visitor(agent_id, secret);
  const changed = await admin.put(`/v1/agents/${agent_id}/chat_page`, { access: "link", title: "Ask us" });
  expect([changed.body.url, changed.body.title]).toEqual([page.url, "Ask us"]);
  expect((await one.ask("POST", "/v1/threads", {})).status).toBe(201);
});

test("a visitor talks, returns with the cookie, and sees nothing of another visitor", async () => {
  const { agent_id, secret } = await openPage();
  const [ada, grace] = [await visitor(agent_id, secret), await visitor(agent_id, secret)];
  expect(ada.thread_id).toBeNull();
  const thread = (await ada.ask("POST", "/v1/threads", {})).body.id;
  const run = await ada.ask("POST", "/v1/runs?wait=60", { agent_id, input: "Hi.", thread_id: thread });
  expect([run.status, run.body.output]).toEqual([201, "Hello, visitor."]);
  const back = await visitor(agent_id, secret, ada.cookie);
  expect(back.thread_id).toBe(thread);
  const said = (await back.ask("GET", `/v1/threads/${thread}/messages`)).body.data;
  expect(said.map(({ content }: { content: string }) => content)).toContain("Hello, visitor.");
  for (const path of [`/v1/threads/${thread}`, `/v1/threads/${thread}/messages`, `/v1/runs/${run.body.id}`])
    expect([path, (await grace.ask("GET", path)).status]).toEqual([path, 404]);
  expect(grace.thread_id).toBeNull();
});

test("a visitor gets no name, argument, result, instruction or model with any request", async () => {
  const { agent_id, secret } = await openPage();
  const { ask } = await visitor(agent_id, secret);
  const thread_id = (await ask("POST", "/v1/threads", {})).body.id;
  const body = { agent_id, input: "Hi.", thread_id };
  const made = await ask("POST", "/v1/runs?wait=60", body);
  const { id } = made.body;
  const sse = { accept: "text/event-stream" };
  const seen = [
    made,
    await ask("POST", "/v1/runs", { ...body, stream: true }),
    await ask("GET", `/v1/runs/${id}`),
    await ask("GET", `/v1/runs/${id}/events`),
    await ask("GET", `/v1/runs/${id}/events`, undefined, sse),
    await ask("GET", `/v1/threads/${thread_id}/messages`),
    await ask("GET", `/v1/threads/${thread_id}`),
  ];
  for (const { status, body } of seen) {
    expect(status).toBeLessThan(300);
    const text = typeof body === "string" ? body : JSON.stringify(body);
    for (const word of hidden) expect([word, text.includes(word)]).toEqual([word, false]);
  }
  expect(seen[1]!.body).toContain("Hello, visitor.");
  // The owner's key sees all of it, which proves that the words above exist.
  const whole = JSON.stringify((await admin.get(`/v1/runs/${id}`)).body);
  for (const word of ["secret_tool", "hidden argument", "hidden result", "test/script"]) expect(whole).toContain(word);
});

test("a route that declares no response for visitors refuses them, in every protocol", async () => {
  const { agent_id, secret } = await openPage();
  const { ask } = await visitor(agent_id, secret);
  const run = await ask("POST", "/v1/runs?wait=60", { agent_id, input: "Hi." });
  const refused = [
    ["GET", "/v1/runs"],
    ["GET", "/v1/threads"],
    ["GET", `/v1/agents/${agent_id}`],
    ["GET", `/streams/v1/runs/${run.body.id}`],
    ["GET", "/openai/v1/models"],
    ["POST", `/v1/runs/${run.body.id}/submit_tool_outputs`],
  ] as const;
  for (const [method, path] of refused) {
    const { status } = await ask(method, path, method === "POST" ? { tool_outputs: [] } : undefined);
    expect([path, status]).toEqual([path, 403]);
  }
});

test("visitors have limits of their own, also with another token, and the page has a limit for all", async () => {
  const { agent_id, secret } = await openPage({
    limits: { runs_per_minute: 3, runs_per_day: 4 },
    visitor_limits: { runs_per_minute: 2, runs_per_day: 3 },
    budget: { max_total_tokens: 100_000 },
  });
  const start = async (of: { ask: ReturnType<typeof asking> }) =>
    (await of.ask("POST", "/v1/runs?wait=60", { agent_id, input: "Hi." })).status;
  const ada = await visitor(agent_id, secret);
  expect([await start(ada), await start(ada), await start(ada)]).toEqual([201, 201, 429]);
  expect(await start(await visitor(agent_id, secret, ada.cookie))).toBe(429);
  const grace = await visitor(agent_id, secret);
  expect([await start(grace), await start(grace)]).toEqual([201, 429]);
  expect((await admin.get("/v1/runs?limit=1")).body.data[0].budget).toEqual({ max_total_tokens: 100_000 });
});

test("visitors are counted apart from the keys of their project, and their data is limited", async () => {
  const { agent_id, secret } = await openPage({ visitor_limits: { runs_per_day: 55 } });
  const refused = async () => {
    const { ask } = await visitor(agent_id, secret);
    const made = await Promise.all(Array.from({ length: 115 }, () => ask("POST", "/v1/threads", {})));
    return made.filter(({ status }) => status === 429).length;
  };
  // Each visitor may send twice 55 requests in a day, and the page has the project's 300 a minute.
  expect([await refused(), await refused(), await refused()]).toEqual([5, 5, 35]);
  expect((await admin.post("/v1/threads", {})).status).toBe(201);
});

test("a forged cookie identifies no visitor, so new visitors are limited by address", async () => {
  await using other = testApp();
  const owner = await other.client();
  const agent_id = (await owner.post("/v1/agents", { name: "a", instructions: "i", model: "test/echo" })).body.id;
  const page = (await owner.put(`/v1/agents/${agent_id}/chat_page`, { access: "link" })).body;
  const enter = (cookie: string) =>
    other.send("POST", `/chat/${agent_id}/token`, { secret: new URL(page.url).hash.slice(1) }, { cookie });
  const entered = await Promise.all(
    Array.from({ length: 40 }, (_, i) => enter(`runnel_visitor=${String(i).padStart(43, "0")}`)),
  );
  const admitted = entered.filter(({ status }) => status === 200);
  expect(admitted).toHaveLength(30);
  // A known visitor is still admitted, while their address does not request too many tokens.
  const known = admitted[0]!.headers.get("set-cookie")!.split(";")[0]!;
  const again = await Promise.all(Array.from({ length: 90 }, () => enter(known)));
  expect(again.filter(({ status }) => status === 200)).toHaveLength(80);
});

test("daily limits are counted per day", async () => {
  const { agent_id, secret } = await openPage({ visitor_limits: { runs_per_day: 1 } });
  const { ask } = await visitor(agent_id, secret);
  const start = () => ask("POST", "/v1/runs?wait=60", { agent_id, input: "Hi." });
  expect((await start()).status).toBe(201);
  const { status, headers } = await start();
  expect([status, Number(headers.get("retry-after")) > 23 * 3600]).toEqual([429, true]);
});

test("neither a restart nor a renewed link resets a page's day", async () => {
  const first = testApp();
  const owner = await first.client();
  const agent_id = (await owner.post("/v1/agents", { name: "a", instructions: "i", model: "test/echo" })).body.id;
  const chat = `/v1/agents/${agent_id}/chat_page`;
  await owner.put(chat, { access: "link", limits: { runs_per_day: 2 } });
  const start = async ({ send, client }: typeof first) => {
    const { url } = (await (await client()).post(`${chat}/rotate`)).body;
    const entered = await send("POST", `/chat/${agent_id}/token`, { secret: new URL(url).hash.slice(1) });
    const authorization = `Bearer ${entered.body.token}`;
    return (await send("POST", "/v1/runs?wait=60", { agent_id, input: "Hi." }, { authorization })).status;
  };
  // Runs of a key do not count.
  await owner.post("/v1/runs?wait=60", { agent_id, input: "Hi.", user_id: "ada" });
  expect(await start(first)).toBe(201);
  await first.stop();
  await using again = testApp({ db: first.db });
  expect([await start(again), await start(again)]).toEqual([201, 429]);
});

test("visitors upload documents only where their page allows it, and see only their own", async () => {
  const closed = await openPage();
  const document = { filename: "a.txt", purpose: "attachment", text: "Mine." };
  const refused = await (await visitor(closed.agent_id, closed.secret)).ask("POST", "/v1/files", document);
  expect([refused.status, refused.body.error.details]).toEqual([403, { required_scope: "upload" }]);
  const { agent_id, secret, page } = await openPage({ files: true });
  expect([page.files, closed.page.files]).toEqual([true, false]);
  const [ada, grace] = [await visitor(agent_id, secret), await visitor(agent_id, secret)];
  expect([ada.files, ada.thread_id]).toEqual([true, null]);
  const { id } = (await ada.ask("POST", "/v1/files", document)).body;
  expect((await ada.ask("GET", `/v1/files/${id}/content`)).body).toBe("Mine.");
  expect((await grace.ask("GET", `/v1/files/${id}/content`)).status).toBe(404);
  const named = await grace.ask("POST", "/v1/runs", { agent_id, input: "Read it.", file_ids: [id] });
  expect([named.status, named.body.error.param]).toEqual([400, "file_ids[0]"]);
  for (const [method, path] of [
    ["GET", "/v1/files"],
    ["GET", `/v1/files/${id}`],
    ["GET", `/v1/files/${id}/chunks`],
    ["DELETE", `/v1/files/${id}`],
  ] as const)
    expect([path, (await ada.ask(method, path)).status]).toEqual([path, 403]);
});

test("a page for members cannot be opened by its address, and clients that guess links are slowed down", async () => {
  const { agent_id, page } = await openPage({ access: "members" });
  expect(page.url).toBe(`https://runnel.test/chat/${agent_id}`);
  const { status, body } = await enter(agent_id, {});
  expect([status, body.error.code]).toEqual([401, "missing_session"]);
  const foreign = await enter(agent_id, {}, { origin: "https://evil.example" });
  expect([foreign.status, foreign.body.error.code]).toEqual([403, "cross_origin"]);
  // A server of its own, because guesses are counted by address.
  await using guarded = testApp();
  const guess = () => guarded.send("POST", `/chat/agt_${"0".repeat(26)}/token`, { secret: "y" });
  const statuses = await Promise.all(Array.from({ length: 70 }, guess));
  expect(new Set(statuses.map((answer) => answer.status))).toEqual(new Set([404, 429]));
});

test("a token expires, and the page issues another", async () => {
  const { agent_id, secret } = await openPage();
  const one = await visitor(agent_id, secret);
  at += 16 * 60_000;
  expect((await one.ask("POST", "/v1/threads", {})).body.error.code).toBe("client_token_expired");
  expect((await (await visitor(agent_id, secret, one.cookie)).ask("POST", "/v1/threads", {})).status).toBe(201);
});
