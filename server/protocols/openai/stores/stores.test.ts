import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { newId } from "../../../domain/ids.ts";
import type { Principal } from "../../../http/principal.ts";
import { type Embedder, EmbeddingError } from "../../../runtime/retrieval/embeddings/embedder.ts";
import type { Answer } from "../../../testing/expect-declared.ts";
import { rejection } from "../../../testing/rejection.ts";
import { type Client, type TestApp, testApp } from "../../../testing/test-app.ts";
import { createApiCalls } from "../api-calls.ts";
import { createEmbeddings } from "./embeddings.ts";

// Embeddings, files and vector stores for OpenAI's clients.

/** Documents are read by separate processes. */
const patience_ms = 60_000;
setDefaultTimeout(patience_ms);

let server: TestApp;
let client: Client;
let stranger: Client;
beforeAll(async () => {
  server = testApp();
  await server.recover();
  client = await server.client();
  stranger = await server.client({ project: "stranger" });
  const many = { reads_per_minute: 1e6, writes_per_minute: 1e6 };
  await server.projects.update(client.scope.project_id, { limits: many });
});
afterAll(() => server[Symbol.asyncDispose]());

const at = "/openai/v1";
const refusal = ({ status, body }: Answer) => [status, body.error?.code, body.error?.param];

async function upload(
  by: Client,
  fields: Record<string, string | [name: string, content: string | Uint8Array<ArrayBuffer>]>,
): Promise<Answer> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields))
    if (typeof value === "string") form.append(name, value);
    else form.append(name, new Blob([value[1]]), value[0]);
  return send(by, form);
}

async function send(by: Client, body: RequestInit["body"], headers: Record<string, string> = {}): Promise<Answer> {
  const response = await server.app.handle(
    new Request(`http://localhost${at}/files`, {
      method: "POST",
      body,
      headers: { authorization: `Bearer ${by.key.secret}`, ...headers },
    }),
  );
  return { status: response.status, headers: response.headers, body: await response.json() };
}

async function newFile(text: string, filename = "a.txt"): Promise<string> {
  const { status, body } = await upload(client, { purpose: "assistants", file: [filename, text] });
  expect([status, body.error ?? null]).toEqual([200, null]);
  return body.id;
}

async function newStore(body: object = {}): Promise<string> {
  const answer = await client.post(`${at}/vector_stores`, { name: "s", ...body });
  expect([answer.status, answer.body.error ?? null]).toEqual([200, null]);
  return answer.body.id;
}

/** Returns the response at a path of a store, once all of its files are searchable or failed. */
async function finished(path: string) {
  const [, id] = /vector_stores\/(\w+)/.exec(path)!;
  for (const entry of (await client.get(`/v1/memory/${id}/entries`)).body.data) {
    const heard = server.memory.indexer.settled(entry.id, patience_ms);
    const { status } = (await client.get(`/v1/memory/${id}/entries/${entry.id}`)).body;
    if (status === "processing") await heard;
  }
  return (await client.get(path)).body;
}

describe("embeddings", () => {
  const embed = (body: object, by = client) => by.post(`${at}/embeddings`, { model: "runnel/embedder", ...body });

  test("are one vector a text, in their order, and the same numbers in either encoding", async () => {
    const input = ["A boat.", "A tax.", "A boat."];
    const { status, body } = await embed({ input });
    expect([status, body.object, body.model]).toEqual([200, "list", "runnel/embedder"]);
    expect(body.data.map((one: { index: number; object: string }) => [one.object, one.index])).toEqual([
      ...[0, 1, 2].map((index) => ["embedding", index]),
    ]);
    const [first, second, third] = body.data.map((one: { embedding: number[] }) => one.embedding);
    expect(first).toHaveLength(512);
    expect([third, Math.hypot(...first)]).toEqual([first, expect.closeTo(1, 4)]);
    expect(second).not.toEqual(first);
    expect(body.usage).toEqual({ prompt_tokens: expect.any(Number), total_tokens: body.usage.prompt_tokens });
    const encoded = await embed({ input, encoding_format: "base64", dimensions: 512, user: "ada" });
    const bytes = Uint8Array.fromBase64(encoded.body.data[1].embedding);
    expect([...new Float32Array(bytes.buffer)]).toEqual(second);
    expect((await embed({ input: "A boat." })).body.data[0].embedding).toEqual(first);
  });

  test.each<[string, object, string]>([
    ["no text", { input: "" }, "input"],
    ["no texts", { input: [] }, "input"],
    ["spaces", { input: ["a", " \n"] }, "input[1]"],
    ["tokens", { input: [1, 2, 3] }, "input[0]"],
    ["lists of tokens", { input: [[1], [2]] }, "input[0]"],
    ["too many texts", { input: Array(2049).fill("a") }, "input"],
    ["a text that the model would not read whole", { input: ["a", "b ".repeat(4097)] }, "input[1]"],
    ["another encoding", { input: "a", encoding_format: "int8" }, "encoding_format"],
    ["other dimensions", { input: "a", dimensions: 0 }, "dimensions"],
    ["more dimensions than a vector may have", { input: "a", dimensions: 4097 }, "dimensions"],
    ["no model", { input: "a", model: null }, "model"],
  ])("of %s are rejected, with the parameter", async (_, body, param) => {
    expect(refusal(await embed(body))).toEqual([400, "validation_failed", param]);
  });

  test("are not retried by the client if they would fail again", async () => {
    const failing = (error: EmbeddingError) => {
      const embed = createEmbeddings({
        embedders: { of: () => ({ embed: () => Promise.reject(error) }) },
        stores: { isUsing: () => false },
      });
      const { guarded } = createApiCalls({ identify: () => ({ scopes: new Set(["run"]), agent_ids: null }) } as never);
      const request = new Request("http://localhost/", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "runnel/embedder", input: "a boat" }),
      });
      return guarded({ request, set: { headers: {} } }, (by) => embed(request, by));
    };
    const told = async (retryable: boolean) => {
      const { status, headers } = await failing(new EmbeddingError("embedding_failed", "No.", retryable));
      return [status, headers.get("x-should-retry"), headers.get("retry-after")];
    };
    expect([await told(false), await told(true)]).toEqual([
      [503, "false", null],
      [503, null, "5"],
    ]);
  });

  test("of too many texts are refused in time, and their work ends", async () => {
    const asked: AbortSignal[] = [];
    const endless: Embedder["embed"] = (_texts, signal) => {
      asked.push(signal!);
      return new Promise((_, reject) => signal!.addEventListener("abort", () => reject(signal!.reason)));
    };
    const embedders = { of: () => ({ embed: endless }) };
    const embed = createEmbeddings({ embedders, stores: { isUsing: () => false }, patience_ms: 20 });
    const body = JSON.stringify({ model: "runnel/embedder", input: Array(2048).fill("a boat") });
    const init = { method: "POST", body, headers: { "content-type": "application/json" } };
    const principal = { ...client.scope, scopes: new Set(["run"]), agent_ids: null } as unknown as Principal;
    const refused = embed(new Request("http://localhost/", init), principal);
    expect(await rejection(refused)).toMatchObject({ code: "embedding_failed", param: "input" });
    expect(asked.map(({ aborted }) => aborted)).toEqual([true]);
  });

  test("by the models of connections are there for administrators, and where a store of the project uses them", async () => {
    const model = "maker/vectors";
    const [runner, bound] = await Promise.all([
      server.client({ scopes: ["run"] }),
      server.client({ scopes: ["admin"], agent_ids: [newId("agent")] }),
    ]);
    const statuses = async () => [
      (await embed({ model, input: "a", dimensions: 3 })).body.data[0].embedding.length,
      ...(await Promise.all([runner, bound, stranger].slice(0, 2).map((by) => embed({ model, input: "a" }, by)))).map(
        (answer) => answer.status,
      ),
    ];
    expect(await statuses()).toEqual([3, 404, 404]);
    expect(refusal(await embed({ model, input: "a" }, runner))).toEqual([404, "model_not_found", "model"]);
    await client.post("/v1/memory", { name: "m", kind: "vector", embedding: { model, dimensions: 8 } });
    expect(await statuses()).toEqual([3, 200, 404]);
    const strange = await server.client({ project: "stranger", scopes: ["run"] });
    expect((await embed({ model, input: "a" }, strange)).status).toBe(404);
    expect((await embed({ input: "a" }, bound)).status).toBe(200);
    expect(refusal(await embed({ model: "none/x", input: "a" }))).toEqual([400, "model_not_available", "model"]);
    expect(refusal(await embed({ model: "gpt", input: "a" }))).toEqual([404, "model_not_found", "model"]);
  });

  test("are not for keys that only read, nor for client tokens", async () => {
    const reader = await server.client({ scopes: ["read"] });
    expect(refusal(await embed({ input: "a" }, reader))).toEqual([403, "insufficient_scope", null]);
    const agent = { name: "a", instructions: "", model: "test/echo" };
    const agent_id = (await client.post("/v1/agents", agent)).body.id;
    const asked = { agent_id, user_id: "ada", scopes: ["run", "read", "submit"], expires_in_seconds: 60 };
    const { token } = (await client.post("/v1/client_tokens", asked)).body;
    const by = { authorization: `Bearer ${token}` };
    const body = { model: "runnel/embedder", input: "a" };
    const refused = await server.send("POST", `${at}/embeddings`, body, by);
    expect(refusal(refused)).toEqual([403, "insufficient_scope", null]);
    // It has the scopes "run" and "read", so neither is missing.
    expect(refused.body.error.message).toStartWith("No client token may ask for this.");
    for (const path of ["files", "vector_stores"]) {
      const { status, body } = await server.send("GET", `${at}/${path}`, undefined, by);
      expect([status, body.error.message]).toEqual([403, expect.stringMatching(/^No client token may ask for this\./)]);
    }
  });

  test("come from a model that can be asked for", async () => {
    const model = { id: "runnel/embedder", object: "model", created: 0, owned_by: "runnel" };
    for (const id of ["runnel/embedder", "runnel%2Fembedder"])
      expect((await client.get(`${at}/models/${id}`)).body).toMatchObject(model);
  });
});

describe("files", () => {
  test("are the API's own, and come back byte for byte", async () => {
    const content = Uint8Array.from([0, 13, 10, 45, 45, 13, 10, 255, 13, 10]);
    const name = 'a "b" é\u{1f600};.bin';
    const fields = { "expires_after[anchor]": "created_at", "expires_after[seconds]": "3600", extra: "x".repeat(5000) };
    const { status, body } = await upload(client, { ...fields, file: [name, content], purpose: "user_data" });
    expect([status, body]).toEqual([
      200,
      {
        id: expect.stringMatching(/^file_/),
        object: "file",
        bytes: 10,
        filename: name,
        purpose: "user_data",
        status: "processed",
        status_details: null,
        created_at: expect.any(Number),
        expires_at: body.created_at + 3600,
      },
    ]);
    const path = `${at}/files/${body.id}`;
    expect((await client.get(path)).body).toMatchObject(body);
    const request = new Request(`http://localhost${path}/content`, {
      headers: { authorization: `Bearer ${client.key.secret}` },
    });
    expect(await (await server.app.handle(request)).bytes()).toEqual(content);
    expect((await client.get(`/v1/files/${body.id}`)).body).toMatchObject({ purpose: "attachment", bytes: 10 });
    expect((await client.delete(path)).body).toMatchObject({ id: body.id, object: "file", deleted: true });
    expect((await client.get(path)).status).toBe(404);
  });

  test("are listed by purpose, page by page", async () => {
    const own = await server.client({ project: "pages" });
    const ids: string[] = [];
    for (const purpose of ["assistants", "vision", "user_data"])
      ids.push((await upload(own, { file: [`${purpose}.txt`, "x"], purpose })).body.id);
    const list = async (query: string) => {
      const { body } = await own.get(`${at}/files?${query}`);
      return [body.data.map(({ id }: { id: string }) => id), body.has_more, body.last_id];
    };
    expect(await list("purpose=user_data&order=asc&limit=10000")).toEqual([ids.slice(1), false, ids[2]]);
    expect(await list("limit=2")).toEqual([[ids[2], ids[1]], true, ids[1]]);
    expect(await list(`limit=2&after=${ids[1]}&unknown=1`)).toEqual([[ids[0]], false, ids[0]]);
    expect(refusal(await own.get(`${at}/files?purpose=batch`))).toEqual([400, "validation_failed", "purpose"]);
    expect(refusal(await own.get(`${at}/files?limit=x`))).toEqual([400, "validation_failed", "limit"]);
  });

  test.each<[string, Parameters<typeof upload>[1], unknown[]]>([
    ["for what there is no place", { file: ["a", "x"], purpose: "batch" }, [400, "validation_failed", "purpose"]],
    ["for nothing", { file: ["a", "x"] }, [400, "validation_failed", "purpose"]],
    ["without content", { purpose: "assistants" }, [400, "validation_failed", "file"]],
    [
      "that cannot be searched",
      { file: ["a.bin", "\0"], purpose: "assistants" },
      [415, "unsupported_file_type", "file"],
    ],
    [
      "that expire after something else",
      { file: ["a", "x"], purpose: "vision", "expires_after[anchor]": "last_active_at" },
      [400, "validation_failed", "expires_after.anchor"],
    ],
    [
      "with a field of a megabyte",
      { file: ["a", "x"], purpose: "x".repeat(1e6) },
      [400, "validation_failed", "purpose"],
    ],
  ])("%s are refused", async (_, fields, refused) => {
    expect(refusal(await upload(client, fields))).toEqual(refused);
    const backwards = Object.fromEntries(Object.entries(fields).reverse());
    expect(refusal(await upload(client, backwards))).toEqual(refused);
  });

  test.each<[string, string, Record<string, string>]>([
    ["no parts", "x", {}],
    ["JSON", "{}", { "content-type": "application/json" }],
    ["a boundary that never comes", "x", { "content-type": "multipart/form-data; boundary=b" }],
    ["an end that never comes", "--b\r\n", { "content-type": "multipart/form-data; boundary=b" }],
    [
      "a part that is cut off",
      '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nx',
      { "content-type": "multipart/form-data; boundary=b" },
    ],
  ])("of %s are rejected, and nothing is stored", async (_, body, headers) => {
    const before = (await client.get(`${at}/files?limit=1`)).body.first_id;
    expect((await send(client, body, headers)).status).toBe(400);
    expect((await client.get(`${at}/files?limit=1`)).body.first_id).toBe(before);
  });
});

describe("a vector store", () => {
  test("is a memory store: made with files, searched, changed and deleted", async () => {
    const file_ids = [await newFile("Boats need a licence.", "boats.txt"), await newFile("Taxes are due in May.")];
    const asked = { name: "Handbook", file_ids, metadata: { team: "sea" } };
    const { body: made } = await client.post(`${at}/vector_stores`, asked);
    expect(made).toMatchObject({
      object: "vector_store",
      name: "Handbook",
      metadata: { team: "sea" },
      expires_at: null,
      file_counts: { total: 2, cancelled: 0, failed: 0 },
    });
    const path = `${at}/vector_stores/${made.id}`;
    expect((await finished(path)).file_counts).toEqual({
      in_progress: 0,
      completed: 2,
      failed: 0,
      cancelled: 0,
      total: 2,
    });
    const { body: found } = await client.post(`${path}/search`, { query: "licence for boats", max_num_results: 1 });
    expect(found).toMatchObject({
      object: "vector_store.search_results.page",
      search_query: ["licence for boats"],
      has_more: false,
      data: [
        { file_id: file_ids[0], filename: "boats.txt", content: [{ type: "text", text: "Boats need a licence." }] },
      ],
    });
    const both = await client.post(`${path}/search`, { query: ["boats licence", "taxes May"], max_num_results: 2 });
    expect(new Set(both.body.data.map((one: { file_id: string }) => one.file_id))).toEqual(new Set(file_ids));
    expect((await client.get(`${at}/vector_stores?limit=1`)).body.data[0].id).toBe(made.id);
    const changed = await client.post(path, { name: "Rules", metadata: null });
    expect(changed.body).toMatchObject({ id: made.id, name: "Rules", metadata: {} });
    expect((await client.get(`/v1/memory/${made.id}`)).body).toMatchObject({ name: "Rules", scope: "project" });
    const gone = { id: made.id, object: "vector_store.deleted", deleted: true };
    expect((await client.delete(path)).body).toMatchObject(gone);
    expect(refusal(await client.get(path))).toEqual([404, "resource_not_found", null]);
  });

  test("adds files, lists them, returns their content and removes them", async () => {
    const id = await newStore();
    const path = `${at}/vector_stores/${id}/files`;
    const file_id = await newFile("One two three.");
    const chunking_strategy = {
      type: "static",
      static: { max_chunk_size_tokens: 100, chunk_overlap_tokens: 0 },
    };
    const added = await client.post(path, { file_id, attributes: { year: 2026, old: false }, chunking_strategy });
    expect(added.body).toMatchObject({
      id: file_id,
      object: "vector_store.file",
      vector_store_id: id,
      last_error: null,
    });
    expect(await finished(`${path}/${file_id}`)).toMatchObject({
      status: "completed",
      attributes: { year: 2026, old: false },
    });
    const noted = await client.post(`/v1/memory/${id}/entries`, { text: "A note of nobody's file." });
    const shown = (await client.get(`${path}?order=asc&filter=completed`)).body;
    expect(shown.data.map((one: { id: string }) => one.id)).toEqual([file_id, noted.body.id]);
    expect((await client.get(`${path}?order=asc&after=${file_id}`)).body.data).toHaveLength(1);
    expect((await client.get(`${path}?filter=failed`)).body.data).toEqual([]);
    for (const [one, text] of [
      [file_id, "One two three."],
      [noted.body.id, "A note of nobody's file."],
    ])
      expect((await client.get(`${path}/${one}/content`)).body).toMatchObject({
        data: [{ type: "text", text }],
        has_more: false,
        next_page: null,
      });
    for (const one of [file_id, noted.body.id]) {
      const gone = { id: one, object: "vector_store.file.deleted", deleted: true };
      expect((await client.delete(`${path}/${one}`)).body).toMatchObject(gone);
      expect((await client.get(`${path}/${one}`)).status).toBe(404);
    }
    expect((await client.get(`${at}/files/${file_id}`)).status).toBe(200);
  });

  test("counts an unreadable file as failed, with the reason", async () => {
    const id = await newStore();
    const file_id = await newFile("%PDF-1.7 broken", "a.pdf");
    const path = `${at}/vector_stores/${id}`;
    await client.post(`${path}/files`, { file_id });
    const file = await finished(`${path}/files/${file_id}`);
    expect([file.status, file.last_error]).toEqual(["failed", { code: "invalid_file", message: expect.any(String) }]);
    expect((await client.get(path)).body.file_counts).toMatchObject({ failed: 1, completed: 0, total: 1 });
  });

  test("adds files in batches that can be retrieved", async () => {
    const id = await newStore();
    const path = `${at}/vector_stores/${id}/file_batches`;
    const file_ids = [await newFile("a one"), await newFile("b two")];
    const { body } = await client.post(path, { file_ids, attributes: { kind: "x" } });
    expect(body).toMatchObject({ object: "vector_store.files_batch", vector_store_id: id, file_counts: { total: 2 } });
    expect(body.created_at).toBeGreaterThan(1e9);
    const batch = await finished(`${path}/${body.id}`);
    expect(batch.file_counts).toEqual({ in_progress: 0, completed: 2, failed: 0, cancelled: 0, total: 2 });
    const other = await client.post(path, { files: [{ file_id: await newFile("c three"), attributes: { n: 1 } }] });
    expect(other.body.file_counts.total).toBe(1);
    const listed = (await client.get(`${path}/${body.id}/files?order=asc`)).body;
    expect(listed.data.map((one: { id: string }) => one.id)).toEqual(file_ids);
    expect(listed.data[0].attributes).toEqual({ kind: "x", file_batch_id: body.id });
    expect(refusal(await client.get(`${path}/vsfb_x`))).toEqual([404, "resource_not_found", null]);
    expect(refusal(await client.post(path, {}))).toEqual([400, "validation_failed", "file_ids"]);
  });

  test.each(["asc", "desc"])("shows each file of a batch once, page by page (%s)", async (order) => {
    const path = `${at}/vector_stores/${await newStore()}/file_batches`;
    const file_ids = [await newFile("a"), await newFile("b"), await newFile("c")];
    await client.post(path, { file_ids: [await newFile("of another batch")] });
    const { body } = await client.post(path, { file_ids });
    const read: string[] = [];
    for (let after = ""; read.length <= file_ids.length; ) {
      const { data, has_more, last_id } = (await client.get(`${path}/${body.id}/files?order=${order}&limit=2${after}`))
        .body;
      read.push(...data.map((one: { id: string }) => one.id));
      if (!has_more) break;
      after = `&after=${last_id}`;
    }
    expect(read).toEqual(order === "asc" ? file_ids : file_ids.toReversed());
    const before = (await client.get(`${path}/${body.id}/files?order=asc&before=${file_ids[2]}`)).body;
    expect(before.data.map((one: { id: string }) => one.id)).toEqual(file_ids.slice(0, 2));
  });

  test("with scopes lists a file only in its scope, and none if no scope is named", async () => {
    const made = await client.post("/v1/memory", { name: "m", kind: "vector", scope: "user" });
    const path = `${at}/vector_stores/${made.body.id}/files`;
    const file_id = await newFile("Shared.");
    for (const scope_id of ["ada", "bob"])
      expect((await client.post(path, { file_id, scope_id, attributes: { of: scope_id } })).status).toBe(200);
    const ofWhom = async (scope_id: string) =>
      (await client.get(`${path}/${file_id}?scope_id=${scope_id}`)).body.attributes?.of ?? null;
    expect([await ofWhom("ada"), await ofWhom("bob"), await ofWhom("eve")]).toEqual(["ada", "bob", null]);
    for (const answer of [
      await client.get(`${path}/${file_id}`),
      await client.get(`${path}/${file_id}/content`),
      await client.delete(`${path}/${file_id}`),
      await client.get(`${path}?limit=1&after=${file_id}`),
    ])
      expect(refusal(answer)).toEqual([400, "validation_failed", "scope_id"]);
    expect((await client.delete(`${path}/${file_id}?scope_id=ada`)).status).toBe(200);
    expect([await ofWhom("ada"), await ofWhom("bob")]).toEqual([null, "bob"]);
    expect((await client.get(`${path}?scope_id=ada`)).body.data).toEqual([]);
    expect((await client.get(`${path}?scope_id=bob&after=${file_id}`)).body.data).toEqual([]);
  });

  test("that cannot be made whole is not there, unless the same request may finish it", async () => {
    const by = await server.client({ project: "halfway" });
    const { id: project } = server.projects.byName("halfway")!;
    const writes = (writes_per_minute: number) => server.projects.update(project, { limits: { writes_per_minute } });
    await writes(0); // No writes are counted.
    const file_ids = [
      (await upload(by, { purpose: "assistants", file: ["a.txt", "One."] })).body.id,
      (await upload(by, { purpose: "assistants", file: ["b.txt", "Two."] })).body.id,
    ];
    const archive = await upload(by, { purpose: "user_data", file: ["a.zip", "PK\u0003\u0004"] });
    const stores = async () => (await by.get(`${at}/vector_stores`)).body.data.length;
    const strategy = (type: string, max_chunk_size_tokens: number) => ({
      chunking_strategy: { type, static: { max_chunk_size_tokens, chunk_overlap_tokens: 0 } },
    });
    for (const [body, status] of [
      [{ file_ids, ...strategy("x", 100) }, 400],
      [{ file_ids, ...strategy("static", 1) }, 400],
      [{ file_ids: [...file_ids, archive.body.id] }, 415],
    ] as const)
      expect([(await by.post(`${at}/vector_stores`, body)).status, await stores()]).toEqual([status, 0]);
    const keyed = () =>
      server.send(...(["POST", `${at}/vector_stores`, { file_ids }] as const), {
        authorization: `Bearer ${by.key.secret}`,
        "idempotency-key": "a",
      });
    await writes(2);
    const refused = await keyed();
    expect((await by.get(`${at}/vector_stores`)).body.data[0].file_counts.total).toBe(1);
    await writes(0);
    const finished = await keyed();
    expect([refused.status, finished.status, finished.body.file_counts.total, await stores()]).toEqual([
      429, 200, 2, 1,
    ]);
  });

  test("that cannot be made now is no fault of its files", async () => {
    const by = await server.client({ project: "hurried" });
    const { id } = server.projects.byName("hurried")!;
    const file = (await upload(by, { purpose: "assistants", file: ["a.txt", "One."] })).body.id;
    await server.projects.update(id, { limits: { reads_per_minute: 2 } });
    const { status, body } = await by.post(`${at}/vector_stores`, { file_ids: [file] });
    expect([status, body.error.code]).toEqual([429, "rate_limited"]);
  });

  test("takes a batch again that was refused halfway, and whole once all its files can be taken", async () => {
    const by = await server.client({ project: "batches" });
    const writes = (writes_per_minute: number) =>
      server.projects.update(by.scope.project_id, { limits: { writes_per_minute } });
    await writes(0); // No writes are counted.
    const { id } = (await by.post(`${at}/vector_stores`, { name: "s" })).body;
    const path = `${at}/vector_stores/${id}/file_batches`;
    const ofText = async (text: string) =>
      (await upload(by, { purpose: "assistants", file: [`${text}.txt`, text] })).body.id;
    const files = async () => (await by.get(`${at}/vector_stores/${id}/files`)).body.data.length;
    const told: { id: string; files: string[] }[] = [];
    for (const key of ["", "key"]) {
      const file_ids = [await ofText(`a${key}`), await ofText(`b${key}`), await ofText(`c${key}`)];
      const headers = { authorization: `Bearer ${by.key.secret}`, ...(key && { "idempotency-key": key }) };
      const add = () => server.send("POST", path, { file_ids, attributes: { n: 1, m: 2 } }, headers);
      const before = await files();
      await writes(told.length + 1); // Writes of the current minute.
      expect([(await add()).status, await files()]).toEqual([429, before + 1]);
      await writes(0);
      const { status, body } = await add();
      expect([status, body.file_counts?.total]).toEqual([200, 3]);
      expect((await add()).body.id).toBe(body.id);
      told.push({ id: body.id, files: file_ids });
    }
    const [first, second] = told;
    const joined = { file_ids: [first!.files[0], second!.files[0], await ofText("x")], attributes: { m: 2, n: 1 } };
    const { body: whole } = await by.post(path, joined);
    expect([whole.id, whole.file_counts.total]).toEqual([first!.id, 4]);
    const before = await files();
    for (const [body, param] of [
      [{ file_ids: [await ofText("d"), newId("file")] }, "file_ids[1]"],
      [
        { files: [{ file_id: await ofText("e") }, { file_id: first!.files[0], attributes: { n: 2 } }] },
        "files[1].file_id",
      ],
      [
        {
          files: [
            { file_id: await ofText("f"), attributes: Object.fromEntries([...Array(16).keys()].map((n) => [n, n])) },
          ],
        },
        "files[0].attributes",
      ],
    ] as const)
      expect([refusal(await by.post(path, body)), await files()]).toEqual([[400, "validation_failed", param], before]);
  });

  test("is searched with attribute filters", async () => {
    const id = await newStore();
    const path = `${at}/vector_stores/${id}`;
    for (const year of [2024, 2025, 2026])
      await client.post(`/v1/memory/${id}/entries`, { text: `Report of ${year}.`, metadata: { year, kind: "report" } });
    const years = async (filters: object) =>
      (await client.post(`${path}/search`, { query: "report", filters })).body.data
        .map((one: { attributes: { year: number } }) => one.attributes.year)
        .sort();
    const compare = (type: string, value: unknown) => ({ type, key: "year", value });
    expect(await years(compare("eq", 2025))).toEqual([2025]);
    expect(await years(compare("nin", [2024, 2025]))).toEqual([2026]);
    expect(await years(compare("in", [2024, 2025]))).toEqual([2024, 2025]);
    const { type, filters } = {
      type: "and",
      filters: [compare("gte", 2025), { type: "eq", key: "kind", value: "report" }],
    };
    expect(await years({ type, filters })).toEqual([2025, 2026]);
    expect(await years({ type: "or", filters: [compare("lt", 2025), compare("gt", 2025)] })).toEqual([2024, 2026]);
    for (const [filters, param] of [
      [{ type: "like", key: "year", value: 1 }, "filters.type"],
      [{ type: "eq", value: 1 }, "filters.key"],
      [{ type: "and", filters: [{ type: "nin", key: "a", value: 1 }] }, "filters.filters[0].value"],
      ["x", "filters.key"],
    ] as const)
      expect(refusal(await client.post(`${path}/search`, { query: "a", filters }))).toEqual([
        400,
        "validation_failed",
        param,
      ]);
  });

  test.each<[string, string, object, unknown[]]>([
    [
      "a time at which it expires",
      "",
      { expires_after: { anchor: "last_active_at", days: 1 } },
      [400, "expires_after"],
    ],
    ["a file that is not there", "", { file_ids: [newId("file")] }, [400, "file_ids[0]"]],
    ["what is no list", "", { file_ids: "x" }, [400, "file_ids"]],
    ["a hundred and one files", "", { file_ids: Array(101).fill(newId("file")) }, [400, "file_ids"]],
    ["metadata that is none", "", { metadata: { a: 1 } }, [400, "metadata.a"]],
    ["a file that is nobody's", "/:id/files", { file_id: newId("file") }, [400, "file_id"]],
    ["an id that is none", "/:id/files", { file_id: "../x" }, [404, null]],
    [
      "chunks of a kind",
      "/:id/files",
      { file_id: newId("file"), chunking_strategy: { type: "x" } },
      [400, "chunking_strategy.type"],
    ],
    ["a search for nothing", "/:id/search", { query: "" }, [400, "query"]],
    ["a search for too much", "/:id/search", { query: "a", max_num_results: 51 }, [400, "top_k"]],
  ])("refuses %s, and nothing comes of it", async (_, path, body, [status, param]) => {
    const before = (await client.get(`${at}/vector_stores?limit=100`)).body.data.length;
    const id = path === "" ? "" : await newStore();
    const answer = await client.post(`${at}/vector_stores${path.replace(":id", id)}`, { name: "x", ...body });
    expect([answer.status, answer.body.error.param]).toEqual([status, param] as [number, string]);
    if (id !== "") expect((await client.get(`${at}/vector_stores/${id}/files`)).body.data).toEqual([]);
    const after = (await client.get(`${at}/vector_stores?limit=100`)).body.data.length;
    expect(after).toBe(before + (id === "" ? 0 : 1));
  });
});

test("stores of other projects and of other kinds are not found, by any request", async () => {
  const store = await newStore();
  const file = await newFile("Ours.");
  await client.post(`${at}/vector_stores/${store}/files`, { file_id: file });
  const keys = (await client.post("/v1/memory", { name: "k", kind: "kv" })).body.id;
  const asked = (id: string, fileId: string): [string, string, object?][] => [
    ...(["GET", "DELETE"] as const).flatMap((method): [string, string][] => [
      [method, `/vector_stores/${id}`],
      [method, `/vector_stores/${id}/files/${fileId}`],
    ]),
    ["GET", `/vector_stores/${id}/files`],
    ["GET", `/vector_stores/${id}/files/${fileId}/content`],
    ["GET", `/vector_stores/${id}/file_batches/vsfb_${newId("memory_entry").slice(5)}`],
    ["GET", `/vector_stores/${id}/file_batches/vsfb_${newId("memory_entry").slice(5)}/files`],
    ["POST", `/vector_stores/${id}`, { name: "x" }],
    ["POST", `/vector_stores/${id}/search`, { query: "a" }],
    ["POST", `/vector_stores/${id}/files`, { file_id: fileId }],
    ["POST", `/vector_stores/${id}/file_batches`, { file_ids: [fileId] }],
  ];
  const nothing = [404, { message: "There is nothing with this id.", code: "resource_not_found" }];
  const told = async (by: Client, [method, path, body]: [string, string, object?]) => {
    const by_ = { authorization: `Bearer ${by.key.secret}` };
    const { status, body: answer } = await server.send(method, `${at}${path}`, body, by_);
    return [path, status, { message: answer.error?.message, code: answer.error?.code }];
  };
  const theirs = (await upload(stranger, { purpose: "assistants", file: ["b.txt", "Theirs."] })).body.id;
  const never = newId("memory");
  for (const [by, id, fileId] of [
    [stranger, store, theirs] as const,
    [client, keys, file] as const,
    [client, never, file] as const,
    ...["..%2fagents", "x".repeat(300), "%00", "%F0%9F%98%80"].map((id) => [client, id, file] as const),
  ])
    for (const one of asked(id, fileId)) expect(await told(by, one)).toEqual([one[1], ...nothing] as never);
  for (const path of [`/files/${file}`, `/files/${file}/content`])
    for (const method of path.endsWith("content") ? ["GET"] : ["GET", "DELETE"])
      expect(await told(stranger, [method, path])).toEqual([path, ...nothing] as never);
  expect((await stranger.get(`${at}/vector_stores`)).body.data).toEqual([]);
  expect((await client.get(`/v1/memory/${keys}`)).status).toBe(200);
  expect((await client.get(`${at}/vector_stores/${store}/files`)).body.data).toHaveLength(1);
});

test.each<[string, string, object | undefined, "read" | "run" | "admin"]>([
  ["GET", "/files", undefined, "read"],
  ["GET", "/files/:file", undefined, "read"],
  ["GET", "/files/:file/content", undefined, "read"],
  ["DELETE", "/files/:file", undefined, "admin"],
  ["GET", "/vector_stores", undefined, "read"],
  ["GET", "/vector_stores/:store", undefined, "read"],
  ["POST", "/vector_stores", { name: "x" }, "admin"],
  ["POST", "/vector_stores/:store", { name: "x" }, "admin"],
  ["DELETE", "/vector_stores/:store", undefined, "admin"],
  ["POST", "/vector_stores/:store/search", { query: "a" }, "read"],
  ["GET", "/vector_stores/:store/files", undefined, "read"],
  ["POST", "/vector_stores/:store/files", { file_id: ":file" }, "run"],
  ["POST", "/vector_stores/:store/file_batches", { file_ids: [":file"] }, "run"],
  ["POST", "/embeddings", { model: "runnel/embedder", input: "a" }, "run"],
])("%s %s needs no more and no less than the API's own", async (method, path, body, needs) => {
  const [file, store] = [await newFile("x"), await newStore()];
  const filled = (text: string) => text.replace(":file", file).replace(":store", store);
  const sent = body && JSON.parse(filled(JSON.stringify(body)));
  const lesser = { read: [], run: ["read"], admin: ["read", "run"] } as const;
  for (const scope of lesser[needs]) {
    const by = { authorization: `Bearer ${(await server.client({ scopes: [scope] })).key.secret}` };
    expect(refusal(await server.send(method, `${at}${filled(path)}`, sent, by))).toEqual([
      403,
      "insufficient_scope",
      null,
    ]);
  }
  const by = { authorization: `Bearer ${(await server.client({ scopes: [needs] })).key.secret}` };
  expect((await server.send(method, `${at}${filled(path)}`, sent, by)).status).toBe(200);
});

test("no request body causes an internal error", async () => {
  const [file, store] = [await newFile("x"), await newStore()];
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom<unknown[]>(
      file,
      store,
      "",
      "\0",
      "\ud800",
      -1,
      1e300,
      null,
      [],
      [null],
      [[1]],
      {},
      "auto",
      "base64",
    ),
  );
  const names = ["model", "input", "encoding_format", "dimensions", "name", "metadata", "file_ids", "file_id", "files"];
  const more = [
    "attributes",
    "chunking_strategy",
    "query",
    "max_num_results",
    "filters",
    "ranking_options",
    "scope_id",
  ];
  const body = fc.dictionary(fc.constantFrom(...names, ...more), value, { maxKeys: 6 });
  const filters = fc.record({
    type: fc.constantFrom("eq", "and", "nin", "in", "x"),
    key: value,
    value,
    filters: value,
  });
  const paths = ["", "/:id", "/:id/search", "/:id/files", "/:id/file_batches"].map((path) => `/vector_stores${path}`);
  await fc.assert(
    fc.asyncProperty(fc.constantFrom("/embeddings", ...paths), body, filters, async (path, body, filters) => {
      const given = { model: "runnel/embedder", query: "a", filters, ...body };
      const { status } = await client.post(`${at}${path.replace(":id", store)}`, given);
      expect(status).toBeLessThan(500);
    }),
    { numRuns: 300 },
  );
});
