import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Client, testApp } from "../testing/test-app.ts";

const server = testApp();
let client: Client;
let agent: string;
let store: string;
beforeAll(async () => {
  client = await server.client();
  agent = (await client.post("/v1/agents", { name: "a", instructions: "", model: "test/echo" })).body.id;
  store = (await client.post("/v1/memory", { name: "kv", kind: "kv", scope: "user" })).body.id;
});
afterAll(() => server[Symbol.asyncDispose]());

const says = [{ role: "user", content: "Hi" }];
const message = { id: "m", role: "user", parts: [{ type: "text", text: "Hi" }] };

/** Every request that carries an id chosen by the client. */
const places: [place: string, ask: (id: string) => Promise<{ status: number; body: unknown }>][] = [
  ["user_id of a run", (user_id) => client.post("/v1/runs", { agent_id: agent, input: "Hi", user_id })],
  ["session_id of a run", (session_id) => client.post("/v1/runs", { agent_id: agent, input: "Hi", session_id })],
  ["user_id of a thread", (user_id) => client.post("/v1/threads", { user_id })],
  ["session_id of a thread", (session_id) => client.post("/v1/threads", { session_id })],
  ["user_id of a schedule", (user_id) => client.post("/v1/schedules", scheduleOf({ user_id }))],
  ["session_id of a schedule", (session_id) => client.post("/v1/schedules", scheduleOf({ session_id }))],
  [
    "user_id of a client token",
    (user_id) =>
      client.post("/v1/client_tokens", { agent_id: agent, user_id, scopes: ["run"], expires_in_seconds: 60 }),
  ],
  [
    "scope_id of an entry",
    (scope_id) => ofVectors((id) => client.post(`/v1/memory/${id}/entries`, { text: "a", scope_id })),
  ],
  [
    "scope_id of a key",
    (scope_id) => client.put(`/v1/memory/${store}/keys/k?${new URLSearchParams({ scope_id })}`, { value: 1 }),
  ],
  [
    "scope_id of a file",
    (scope_id) =>
      ofVectors((memory_id) =>
        client.post("/v1/files", { filename: "a.txt", purpose: "retrieval", text: "a", memory_id, scope_id }),
      ),
  ],
  ["OpenAI's user", (user) => client.post("/openai/v1/chat/completions", { model: agent, messages: says, user })],
  [
    "OpenAI's safety_identifier",
    (safety_identifier) => client.post("/openai/v1/responses", { model: agent, input: "Hi", safety_identifier }),
  ],
  ["id of the AI SDK's chat", (id) => client.post(`/ui/v1/agents/${agent}/chat`, { id, messages: [message] })],
  [
    "user_id of the AI SDK's chat",
    (user_id) => client.post(`/ui/v1/agents/${agent}/chat`, { id: "c", messages: [message], user_id }),
  ],
  [
    "user_id of a consent",
    async (user_id) => client.post(`/v1/oauth_clients/${await ofUsers()}/authorize`, { user_id }),
  ],
  ["threadId of AG-UI", (threadId) => client.post(`/ag-ui/v1/agents/${agent}`, agUi({ threadId }))],
  ["user_id of AG-UI", (user_id) => client.post(`/ag-ui/v1/agents/${agent}`, agUi({ forwardedProps: { user_id } }))],
];

const scheduleOf = (more: object) => ({
  name: "s",
  agent_id: agent,
  input: "Hi",
  cron: "0 0 1 1 *",
  timezone: "UTC",
  enabled: false,
  ...more,
});
const agUi = (more: object) => ({ threadId: "t", runId: "r", messages: [{ id: "m", ...says[0] }], ...more });

let oauthClient: Promise<string> | undefined;
function ofUsers(): Promise<string> {
  const authorization_endpoint = "https://issuer.example.com/authorize";
  const token_endpoint = "https://issuer.example.com/token";
  const about = { name: "c", grant: "authorization_code", per_user: true, client_id: "c" };
  oauthClient ??= client
    .post("/v1/oauth_clients", { ...about, authorization_endpoint, token_endpoint })
    .then(({ body }) => body.id);
  return oauthClient;
}

let vectors: Promise<string> | undefined;
async function ofVectors<T>(ask: (id: string) => Promise<T>): Promise<T> {
  vectors ??= client.post("/v1/memory", { name: "vectors", kind: "vector", scope: "user" }).then(({ body }) => body.id);
  return await ask(await vectors);
}

test.each(places)("%s is refused if no path could contain it, and accepted otherwise", async (_, ask) => {
  for (const id of [".", ".."]) {
    const { status, body } = await ask(id);
    expect({ id, status }).toEqual({ id, status: 400 });
    expect(JSON.stringify(body)).toContain('Must be another id than \\".\\" or \\"..\\".');
  }
  for (const id of ["a", "...", "..a", ".a", "a..", "..\n", "\n"]) {
    const { status } = await ask(id);
    expect({ id, ok: status < 300 }).toEqual({ id, ok: true });
  }
});

// An address cannot carry half a character: the URL has another one in its place.
test.each(places.filter(([place]) => place !== "scope_id of a key"))(
  "%s is refused if it has half a character, which would make two users one",
  async (_, ask) => {
    for (const id of ["a\ud800", "\udc00a", "a\ud83d"]) {
      const { status, body } = await ask(id);
      expect({ id, status }).toEqual({ id, status: 400 });
      expect(JSON.stringify(body)).toContain("half a character");
    }
    expect((await ask("a😀")).status).toBeLessThan(300);
  },
);

test("lists still accept such an id as a filter, because older data may have it", async () => {
  for (const path of ["/v1/runs?user_id=..", "/v1/threads?user_id=..", "/v1/threads?session_id=."])
    expect((await client.get(path)).status).toBe(200);
  expect((await client.get(`/v1/memory/${store}/keys?scope_id=..`)).status).toBe(200);
});
