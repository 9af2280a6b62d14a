import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { limits } from "../../domain/limits.ts";
import { type Client, testApp } from "../../testing/test-app.ts";

// Documents are read by child processes, which a busy machine starts late.
setDefaultTimeout(60_000);

let at = 1_800_000_000_000;
const server = testApp({ now: () => at });
let owner: Client;
let agent_id: string;
beforeAll(async () => {
  owner = await server.client();
  await server.projects.update(owner.scope.project_id, {
    limits: { writes_per_minute: 0, run_creations_per_minute: 0 },
  });
  agent_id = await makeAgent();
});
afterAll(() => server[Symbol.asyncDispose]());

const makeAgent = async (): Promise<string> =>
  (await owner.post("/v1/agents", { name: "a", instructions: "", model: "test/echo" })).body.id;

// biome-ignore lint/suspicious/noExplicitAny: whatever the server says.
type Json = any;
type Ask = (method: string, path: string, body?: unknown) => ReturnType<typeof server.send>;

async function holder(bound: object = {}): Promise<Ask> {
  const many = { requests_per_minute: 1000, run_creations_per_minute: 1000 };
  const asked = { agent_id, scopes: ["run", "read", "upload"], expires_in_seconds: 86_400, limits: many, ...bound };
  const { status, body } = await owner.post("/v1/client_tokens", asked);
  expect([status, body.error ?? null]).toEqual([201, null]);
  return (method, path, sent) => server.send(method, path, sent, { authorization: `Bearer ${body.token}` });
}

const note = (text: string, more: object = {}) => ({ filename: "note.txt", purpose: "attachment", text, ...more });

async function upload(ask: Ask, text: string): Promise<string> {
  const { status, body } = await ask("POST", "/v1/files", note(text));
  expect([status, body.error ?? null]).toEqual([201, null]);
  return body.id;
}
const start = (ask: Ask, file_ids: string[], more: object = {}) =>
  ask("POST", "/v1/runs", { agent_id, input: "Read it.", file_ids, ...more });

/** Returns the run once it is over: a stream of its events ends with it. */
async function settled(id: string) {
  await server.send("GET", `/v1/runs/${id}/events`, undefined, {
    accept: "text/event-stream",
    authorization: `Bearer ${owner.key.secret}`,
  });
  return (await owner.get(`/v1/runs/${id}`)).body;
}

/** Sends a form with a file of this content. */
async function sendForm(ask: { token: string }, name: string, content: string) {
  const form = new FormData();
  form.append("purpose", "attachment");
  form.append("file", new File([content], name));
  const sent = new Request("http://runnel.test/v1/files", { method: "POST", body: form });
  return await server.app.handle(
    new Request(sent, { headers: { ...Object.fromEntries(sent.headers), authorization: `Bearer ${ask.token}` } }),
  );
}

test("a document that a person sends is attached to their run, listed in the thread, and deleted with the run", async () => {
  const ada = await holder({ user_id: "ada" });
  const thread_id = (await ada("POST", "/v1/threads", {})).body.id;
  const id = await upload(ada, "The code is 4711.");
  await server.processing.idle();
  const begun = await start(ada, [id], { thread_id });
  expect(begun.status).toBe(201);
  const run = await settled(begun.body.id);
  expect(run.status).toBe("completed");
  const record = server.db.sqlite.query("SELECT data FROM run_events WHERE type = 'documents.attached' AND run_id = ?");
  expect(JSON.stringify(record.get(run.id))).toContain("The code is 4711.");
  const said = (await ada("GET", `/v1/threads/${thread_id}/messages`)).body.data;
  expect(said.find(({ role }: { role: string }) => role === "user")).toMatchObject({
    files: [{ file_id: id, filename: "note.txt", mime_type: "text/plain" }],
  });
  at += 2 * 3_600_000; // Without a run the file would have expired by now.
  expect((await ada("GET", `/v1/files/${id}/content`)).body).toBe("The code is 4711.");
  expect((await owner.delete(`/v1/runs/${run.id}`)).status).toBe(200);
  expect((await owner.get(`/v1/files/${id}`)).status).toBe(404);
});

test("a document that no run uses is deleted after an hour", async () => {
  const ada = await holder({ user_id: "ada" });
  const id = await upload(ada, "Never read.");
  expect((await ada("GET", `/v1/files/${id}/content`)).status).toBe(200);
  at += 3_600_000;
  expect((await ada("GET", `/v1/files/${id}/content`)).status).toBe(404);
  expect((await start(ada, [id])).body.error.param).toBe("file_ids[0]");
});

test("a token cannot read or name files sent to another person, agent or thread, nor files of the project", async () => {
  const ada = await holder({ user_id: "ada" });
  const thread = (await owner.post("/v1/threads", {})).body.id;
  const other = (await owner.post("/v1/threads", {})).body.id;
  const another = await makeAgent();
  const others = [
    { ask: await holder({ user_id: "grace" }), agent_id },
    { ask: await holder({ user_id: "ada", agent_id: another }), agent_id: another },
    { ask: await holder({ thread_id: other }), agent_id },
    { ask: await holder(), agent_id },
  ];
  const own = await upload(ada, "Ada's.");
  const inThread = await upload(await holder({ thread_id: thread }), "Of the thread.");
  const ofProject = (await owner.post("/v1/files", note("The owner's."))).body.id;
  expect((await start(ada, [own])).status).toBe(201);
  for (const [index, { ask, agent_id }] of others.entries())
    for (const id of [own, inThread, ofProject]) {
      const never = "file_00000000000000000000000000";
      const [seen, absent] = [
        await ask("GET", `/v1/files/${id}/content`),
        await ask("GET", `/v1/files/${never}/content`),
      ];
      expect([index, seen.status, seen.body.error]).toEqual([index, 404, absent.body.error]);
      const { status, body } = await start(ask, [id], { agent_id });
      expect([index, status, body.error.param]).toEqual([index, 400, "file_ids[0]"]);
    }
  for (const id of [inThread, ofProject]) expect((await start(ada, [id])).status).toBe(400);
  const again = await holder({ thread_id: thread });
  expect((await again("GET", `/v1/files/${inThread}/content`)).body).toBe("Of the thread.");
});

test("an attached image is visible only to tokens of the runs that show it", async () => {
  const [ada, grace] = [await holder({ user_id: "ada" }), await holder({ user_id: "grace" })];
  const data = `data:image/png;base64,${btoa("\x89PNG\r\n\x1a\nof Ada")}`;
  const input = [{ role: "user", content: [{ type: "image", data }] }];
  const run = await ada("POST", "/v1/runs?wait=60", { agent_id, input });
  const { file_id } = run.body.input[0].content[0];
  const seen = await ada("GET", `/v1/files/${file_id}/content`);
  expect([seen.status, seen.headers.get("content-type")]).toEqual([200, "image/png"]);
  expect(seen.headers.get("content-disposition")).toStartWith("attachment");
  expect((await grace("GET", `/v1/files/${file_id}/content`)).status).toBe(404);
  const bound = await holder({ run_id: run.body.id });
  expect((await bound("GET", `/v1/files/${file_id}/content`)).status).toBe(200);
});

test("a client token uploads only documents of a few megabytes, and needs the scope", async () => {
  const ada = await holder({ user_id: "ada" });
  const refused = async (ask: Ask, body: object) => {
    const { status, body: answer } = await ask("POST", "/v1/files", body);
    return [status, answer.error?.param ?? answer.error?.details?.required_scope];
  };
  const without = await holder({ user_id: "ada", scopes: ["run", "read", "submit", "score"] });
  expect(await refused(without, note("Hi."))).toEqual([403, "upload"]);
  const own = await upload(ada, "Mine.");
  expect((await start(without, [own])).body.error.param).toBe("file_ids");
  const memory_id = (await owner.post("/v1/memory", { name: "m", kind: "vector" })).body.id;
  expect(await refused(ada, note("Hi.", { memory_id }))).toEqual([403, "memory_id"]);
  expect(await refused(ada, note("Hi.", { metadata: { a: "b" } }))).toEqual([403, "metadata"]);
  expect(await refused(ada, note("Hi.", { expires_in_seconds: 9e7 }))).toEqual([403, "expires_in_seconds"]);
  expect(await refused(ada, note("Hi.", { purpose: "retrieval" }))).toEqual([403, "purpose"]);
  const program = { filename: "a.pdf", purpose: "attachment", content_base64: btoa("MZ\x90\0\x03") };
  expect(await refused(ada, program)).toEqual([415, "file"]);
  const run = (await start(ada, [])).body.id;
  expect(await refused(await holder({ run_id: run }), note("Hi."))).toEqual([403, "run_id"]);

  const asked = { agent_id, user_id: "large", scopes: ["upload"], expires_in_seconds: 600 };
  const { token } = (await owner.post("/v1/client_tokens", asked)).body;
  const large = await sendForm({ token }, "large.txt", "x".repeat(limits.client_file_bytes + 1));
  expect([large.status, ((await large.json()) as Json).error.code]).toEqual([413, "file_too_large"]);
  const fits = await sendForm({ token }, "../../<img src=x onerror=alert(1)>\u202efdp.txt", "Hi.");
  expect([fits.status, ((await fits.json()) as Json).filename]).toEqual([201, "<img src=x onerror=alert(1)>fdp.txt"]);
});

test("a flood of files is stopped by its sender's limits, also if concurrent, and does not affect others", async () => {
  await using flooded = testApp();
  const maker = await flooded.client();
  const agent = (await maker.post("/v1/agents", { name: "a", instructions: "", model: "test/echo" })).body.id;
  const tokenOf = async (user_id: string) => {
    const asked = { agent_id: agent, user_id, scopes: ["upload"], expires_in_seconds: 600 };
    return (await maker.post("/v1/client_tokens", asked)).body.token as string;
  };
  const send = async (token: string, text: string) =>
    (await flooded.send("POST", "/v1/files", note(text), { authorization: `Bearer ${token}` })).status;
  const eve = await tokenOf("eve");
  const statuses = await Promise.all(
    Array.from({ length: limits.client_files_waiting + 5 }, (_, index) => send(eve, `Flood ${index}.`)),
  );
  expect(statuses.filter((status) => status === 201)).toHaveLength(limits.client_files_waiting);
  expect(statuses.filter((status) => status === 413)).toHaveLength(5);
  expect(await send(await tokenOf("eve"), "With the next token.")).toBe(413);
  expect(await send(await tokenOf("frank"), "Mine.")).toBe(201);
});
