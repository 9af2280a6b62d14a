import { afterAll, expect, test } from "bun:test";
import { AppError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { sha256 } from "../../lib/hash.ts";
import type { Answer } from "../../testing/expect-declared.ts";
import { type Client, type TestApp, testApp } from "../../testing/test-app.ts";

const server = testApp();
afterAll(() => server[Symbol.asyncDispose]());
const megabyte = 1024 * 1024;

let projects = 0;
const newClient = (on: TestApp = server) => on.client({ project: `p${projects++}` });

const noise = (bytes: number): Uint8Array<ArrayBuffer> => {
  const data = new Uint8Array(bytes);
  for (let from = 0; from < bytes; from += 65_536) crypto.getRandomValues(data.subarray(from, from + 65_536));
  return data;
};

/** Returns a form with these fields; a file is given as its name and content. */
function formOf(
  fields: [name: string, value: string | [name: string, content: string | Uint8Array<ArrayBuffer>]][],
): FormData {
  const form = new FormData();
  for (const [name, value] of fields)
    if (typeof value === "string") form.append(name, value);
    else form.append(name, new Blob([value[1]]), value[0]);
  return form;
}

async function post(
  { key }: Client,
  body: RequestInit["body"],
  headers: Record<string, string> = {},
  on = server,
): Promise<Answer> {
  const request = new Request("http://localhost/v1/files", {
    method: "POST",
    headers: { authorization: `Bearer ${key.secret}`, ...headers },
    body,
  });
  const response = await on.app.handle(request);
  return { status: response.status, body: await response.json(), headers: response.headers };
}

async function download({ key }: Client, id: string, headers: Record<string, string> = {}) {
  const request = new Request(`http://localhost/v1/files/${id}/content`, {
    headers: { authorization: `Bearer ${key.secret}`, ...headers },
  });
  const response = await server.app.handle(request);
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

const rows = ({ db }: TestApp, table: string, { scope }: Client): number =>
  db.sqlite
    .query<{ n: number }, [string]>(`SELECT count(*) AS n FROM ${table} WHERE project_id = ?`)
    .get(scope.project_id)!.n;

/** Waits until no unused content is left. */
async function settled(client: Client, on = server): Promise<number> {
  await on.sweep();
  return rows(on, "file_chunks", client);
}

const attachment = (filename: string, text: string) => ({ filename, text, purpose: "attachment" });

test("an upload names the encoding of its text, in a form as in JSON, and an unknown one is refused", async () => {
  const client = await newClient();
  const form = formOf([
    ["purpose", "attachment"],
    ["encoding", "Shift-JIS"],
    ["include_hidden", "true"],
    ["file", ["a.bin", noise(10)]],
  ]);
  expect((await post(client, form)).body).toMatchObject({ encoding: "shift_jis", include_hidden: true });
  const json = { ...attachment("a.txt", "a"), encoding: "cp1251", include_hidden: true };
  expect((await client.post("/v1/files", json)).body).toMatchObject({ encoding: "windows-1251", include_hidden: true });
  const wide = {
    filename: "a.txt",
    purpose: "retrieval",
    content_base64: Buffer.from("\u9006\u4ed5", "utf16le").toString("base64"),
  };
  expect((await client.post("/v1/files", wide)).status).toBe(415);
  expect((await client.post("/v1/files", { ...wide, encoding: "UTF-16LE" })).body.mime_type).toBe("text/plain");
  expect((await client.post("/v1/files", { ...json, encoding: "cp932" })).body.encoding).toBe("shift_jis");
  const unknown = await client.post("/v1/files", { ...json, encoding: "martian" });
  expect([unknown.status, unknown.body.error.param]).toEqual([400, "encoding"]);
  const half = formOf([
    ["purpose", "attachment"],
    ["include_hidden", "maybe"],
    ["file", ["a.bin", noise(10)]],
  ]);
  expect((await post(client, half)).body.error.param).toBe("include_hidden");
});

test("a multipart upload creates a file that is read back unchanged", async () => {
  const client = await newClient();
  const content = noise(megabyte);
  const form = formOf([
    ["purpose", "attachment"],
    ["metadata", '{"order":"7"}'],
    ["file", ["a.bin", content]],
    ["expires_in_seconds", "60"],
  ]);
  const { status, body, headers } = await post(client, form);
  expect([status, headers.get("x-request-id")]).toEqual([201, body.request_id]);
  expect(body).toEqual({
    id: expect.stringMatching(/^file_[0-9a-z]{26}$/),
    object: "file",
    filename: "a.bin",
    mime_type: "application/octet-stream",
    bytes: megabyte,
    sha256: sha256(content),
    purpose: "attachment",
    status: "ready",
    error: null,
    chunks: 0,
    memory_ids: [],
    pages: null,
    pages_done: null,
    characters: null,
    encoding: null,
    include_hidden: false,
    warnings: [],
    processed: 0,
    total: null,
    run_id: null,
    tool_call_id: null,
    metadata: { order: "7" },
    expires_at: new Date(Date.parse(body.created_at) + 60_000).toISOString(),
    created_at: expect.any(String),
    ...client.scope,
    request_id: body.request_id,
  });
  const { request_id, ...file } = body;
  expect((await client.get(`/v1/files/${body.id}`)).body).toMatchObject(file);
  expect((await client.get("/v1/files")).body.data).toEqual([file]);
  const got = await download(client, body.id);
  expect([got.status, got.bytes.equals(content)]).toEqual([200, true]);
});

test("a JSON upload of text or base64 creates a file too", async () => {
  const client = await newClient();
  const text = await client.post("/v1/files", { ...attachment("naïve.md", "# Hé\n"), purpose: "retrieval" });
  expect(text.body).toMatchObject({ status: "uploaded", mime_type: "text/markdown", bytes: 6 });
  const bytes = noise(1000);
  const encoded = await client.post("/v1/files", {
    filename: "a.bin",
    purpose: "code_interpreter",
    content_base64: bytes.toBase64(),
  });
  expect(encoded.body).toMatchObject({ status: "ready", sha256: sha256(bytes) });
  expect((await download(client, text.body.id)).bytes.toString()).toBe("# Hé\n");
});

const file: [string, [string, string]] = ["file", ["a.txt", "a"]];
const purpose: [string, string] = ["purpose", "attachment"];

test.each<[string, FormData, string, string | null]>([
  ["no file", formOf([purpose]), "required", "file"],
  ["no purpose", formOf([file]), "required", "purpose"],
  ["a purpose that only runs have", formOf([file, ["purpose", "output"]]), "invalid_value", "purpose"],
  ["two files", formOf([purpose, file, file]), "invalid_value", "file"],
  ["two purposes", formOf([purpose, file, purpose]), "invalid_value", "purpose"],
  ["another file", formOf([purpose, file, ["other", ["b.txt", "b"]]]), "unknown_parameter", "other"],
  ["a field of JSON", formOf([purpose, file, ["text", "b"]]), "unknown_parameter", "text"],
  ["a file that is a field", formOf([purpose, ["file", "a"]]), "invalid_value", "file"],
  ["metadata that are no JSON", formOf([purpose, file, ["metadata", "{"]]), "invalid_value", "metadata"],
  ["metadata of another form", formOf([purpose, file, ["metadata", '{"a":1}']]), "invalid_value", "metadata.a"],
  [
    "metadata that reach a prototype",
    formOf([["metadata", '{"__proto__":"x"}'], purpose, file]),
    "forbidden_key",
    "__proto__",
  ],
  ["a huge field", formOf([["metadata", "x".repeat(70_000)], purpose, file]), "invalid_value", "metadata"],
  ["a field that is not UTF-8", formOf([["purpose", ["", new Uint8Array([255])]], file]), "invalid_value", "purpose"],
  [
    "a time that is none",
    formOf([["expires_in_seconds", "1e3"], purpose, file]),
    "invalid_value",
    "expires_in_seconds",
  ],
  ["no time at all", formOf([["expires_in_seconds", "0"], purpose, file]), "invalid_value", "expires_in_seconds"],
  ["a memory store", formOf([["memory_id", "mem_x"], purpose, file]), "invalid_value", "memory_id"],
  ["somebody's part of no store", formOf([["scope_id", "ann"], purpose, file]), "invalid_value", "scope_id"],
  ["no way to chunk", formOf([["chunking", "{"], purpose, file]), "invalid_value", "chunking"],
  [
    "chunks that overlap too much",
    formOf([["chunking", '{"chunk_overlap_tokens":400}'], purpose, file]),
    "invalid_value",
    "chunking.chunk_overlap_tokens",
  ],
  ["a store that is not there", formOf([["memory_id", newId("memory")], purpose, file]), "invalid_value", "memory_id"],
])("a form with %s is refused, and nothing of it is stored", async (_, form, code, param) => {
  const client = await newClient();
  const { status, body } = await post(client, form);
  expect([status, body.error.errors[0].param, body.error.errors[0].code]).toEqual([400, param, code]);
  expect([rows(server, "files", client), rows(server, "file_blobs", client)]).toEqual([0, 0]);
});

test("the stored part of a large file is deleted when the rest of the form is invalid", async () => {
  const client = await newClient();
  for (const wrong of [
    ["purpose", "nothing"],
    ["other", "x"],
  ] as [string, string][]) {
    const { status } = await post(client, formOf([["file", ["a.bin", noise(megabyte)]], wrong]));
    expect(status).toBe(400);
    expect(await settled(client)).toBe(0);
  }
});

test.each<[string, object, string]>([
  ["no content", { filename: "a", purpose: "attachment" }, "content_base64"],
  ["two contents", { ...attachment("a", "a"), content_base64: "YQ==" }, "content_base64"],
  ["no base64", { filename: "a", purpose: "attachment", content_base64: "a*" }, "content_base64"],
  ["no name", { text: "a", purpose: "attachment" }, "filename"],
  ["a memory store", { ...attachment("a", "a"), memory_id: newId("memory") }, "memory_id"],
])("JSON with %s is refused", async (_, body, param) => {
  const answer = await (await newClient()).post("/v1/files", body);
  expect([answer.status, answer.body.error.param]).toEqual([400, param]);
});

test("a body of another media type is refused with that error", async () => {
  const client = await newClient();
  const refused = async (body: string, headers: Record<string, string>) => {
    const answer = await post(client, body, headers);
    return [answer.status, answer.body.error.code];
  };
  expect(await refused("a", { "content-type": "text/plain" })).toEqual([415, "unsupported_media_type"]);
  expect(await refused("a", { "content-type": "multipart/mixed; boundary=b" })).toEqual([
    415,
    "unsupported_media_type",
  ]);
  expect(await refused("a", { "content-type": "multipart/form-data" })).toEqual([400, "validation_failed"]);
  const zipped = { "content-type": "multipart/form-data; boundary=b", "content-encoding": "gzip" };
  expect(await refused("a", zipped)).toEqual([415, "unsupported_media_type"]);
});

test("a file of more than 100 MB is refused as soon as that is known, and no more of it is read than the answer needs", async () => {
  const client = await newClient();
  const type = { "content-type": "multipart/form-data; boundary=b" };
  const announced = await post(client, "x", { ...type, "content-length": String(102 * megabyte) });
  expect([announced.status, announced.body.error.code]).toEqual([413, "file_too_large"]);
  let sent = 0;
  const head = Buffer.from('--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n');
  const piece = new Uint8Array(4 * megabyte);
  const endless = new ReadableStream({
    pull(controller) {
      controller.enqueue(sent === 0 ? head : piece);
      sent += sent === 0 ? 1 : piece.length;
    },
  });
  const grown = await post(client, endless, type);
  expect([grown.status, grown.body.error.code]).toEqual([413, "file_too_large"]);
  expect(grown.headers.get("connection")).toBe("close");
  expect(sent).toBeLessThan((116 + 128) * megabyte);
  expect(await settled(client)).toBe(0);
});

test("an interrupted form stores nothing", async () => {
  const client = await newClient();
  const body = Buffer.concat([
    Buffer.from('--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n'),
    noise(megabyte),
  ]);
  const { status, body: answer } = await post(client, body, { "content-type": "multipart/form-data; boundary=b" });
  expect([status, answer.error.message]).toEqual([400, expect.stringContaining("ends before its last boundary")]);
  expect(await settled(client)).toBe(0);
});

test("a full disk refuses an upload, also in its middle, and nothing of it is stored", async () => {
  let left = 1;
  const requireRoom = () => {
    if (left-- <= 0) throw new AppError("storage_full", "The disk is nearly full.", { retryAfter: 30 });
  };
  await using small = testApp({ requireRoom });
  const client = await newClient(small);
  left = 0;
  const refused = await post(client, formOf([purpose, file]), {}, small);
  expect([refused.status, refused.body.error.code]).toEqual([507, "storage_full"]);
  left = 20;
  const head = Buffer.from('--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n');
  let pieces = 0;
  const stream = new ReadableStream({
    pull(controller) {
      controller.enqueue(pieces++ === 0 ? head : new Uint8Array(megabyte));
      if (pieces > 60) controller.close();
    },
  });
  const { status, body } = await post(client, stream, { "content-type": "multipart/form-data; boundary=b" }, small);
  // One answer; the bytes after it were discarded.
  expect([status, body.error.code, left]).toEqual([507, "storage_full", -1]);
  left = 1000;
  expect(await settled(client, small)).toBe(0);
});

test("two files with the same content are separate, and one stays when the other is deleted", async () => {
  const client = await newClient();
  const content = noise(600_000);
  const upload = async (name: string) => (await post(client, formOf([purpose, ["file", [name, content]]]))).body;
  const [one, two] = [await upload("one"), await upload("two")];
  expect([one.sha256, await settled(client)]).toEqual([two.sha256, 3]);
  expect((await client.delete(`/v1/files/${one.id}`)).body).toMatchObject({
    id: one.id,
    object: "file",
    deleted: true,
  });
  expect((await client.delete(`/v1/files/${one.id}`)).status).toBe(404);
  expect((await download(client, one.id)).status).toBe(404);
  expect((await download(client, two.id)).bytes.equals(content)).toBe(true);
  await client.delete(`/v1/files/${two.id}`);
  expect([await settled(client), rows(server, "file_blobs", client)]).toEqual([0, 0]);
});

test("the same upload with the same idempotency key is done once, whatever its multipart boundary", async () => {
  const client = await newClient();
  const content = noise(600_000);
  const upload = (name: string, data = content) =>
    post(client, formOf([purpose, ["file", [name, data]]]), { "idempotency-key": "k" });
  const first = await upload("a");
  const again = await upload("a");
  expect([again.status, again.body.id, again.headers.get("idempotent-replayed")]).toEqual([201, first.body.id, "true"]);
  for (const other of [await upload("b"), await upload("a", noise(600_000))])
    expect([other.status, other.body.error.code]).toEqual([409, "idempotency_key_reused"]);
  expect([rows(server, "files", client), await settled(client)]).toEqual([1, 3]);
});

test("two concurrent uploads with the same key create one file", async () => {
  const client = await newClient();
  const form = () => formOf([purpose, ["file", ["a", noise(10)]]]);
  const content = form();
  const copy = formOf([purpose]);
  copy.append("file", content.get("file") as Blob, "a");
  const answers = await Promise.all([content, copy].map((body) => post(client, body, { "idempotency-key": "k" })));
  // The second one is refused while the first is being answered, and gets the same answer after it.
  const created = answers.filter(({ status }) => status === 201);
  const refused = answers.filter(({ status }) => status !== 201);
  expect(new Set(created.map(({ body }) => body.id)).size).toBe(1);
  expect(refused.filter(({ body }) => body.error.code !== "idempotency_in_progress")).toEqual([]);
  expect(rows(server, "files", client)).toBe(1);
});

test("a key that is revoked during its upload creates no file", async () => {
  const client = await newClient();
  const other = (await client.post("/v1/api_keys", { name: "k", scopes: ["run"] })).body;
  const bytes = await new Response(formOf([purpose, ["file", ["a", noise(megabyte)]]])).bytes();
  const boundary = Buffer.from(bytes).toString("latin1", 2, bytes.indexOf(13));
  let sent = 0;
  const body = new ReadableStream({
    async pull(controller) {
      if (sent > 500_000) await client.delete(`/v1/api_keys/${other.id}`);
      controller.enqueue(bytes.slice(sent, sent + 100_000));
      sent += 100_000;
      if (sent >= bytes.length) controller.close();
    },
  });
  const type = { "content-type": `multipart/form-data; boundary=${boundary}` };
  const { status, body: answer } = await post({ ...client, key: other }, body, type);
  expect([status, answer.error.code]).toEqual([401, "key_revoked"]);
  expect([rows(server, "files", client), await settled(client)]).toEqual([0, 0]);
});

test("content is sent as a download, and cannot be executed", async () => {
  const client = await newClient();
  const { body } = await client.post("/v1/files", attachment('pa"ge\n€.html', "<script>alert(1)</script>"));
  const { headers } = await download(client, body.id);
  expect(Object.fromEntries(headers)).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "content-disposition": `attachment; filename="pa_ge_.html"; filename*=UTF-8''pa%22ge%E2%82%AC.html`,
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
    etag: `"${body.sha256}"`,
    "x-request-id": expect.stringMatching(/^req_/),
  });
});

test("HEAD returns the length and no content", async () => {
  const { client, id } = await large;
  const headers = { authorization: `Bearer ${client.key.secret}` };
  const { status, headers: answered } = await server.send("HEAD", `/v1/files/${id}/content`, undefined, headers);
  expect([status, answered.get("content-length")]).toEqual([200, "600000"]);
});

test.each([
  ["bytes=0-0", 206, 0, 1],
  ["bytes=10-19", 206, 10, 20],
  ["bytes=262143-262145", 206, 262_143, 262_146],
  ["bytes=599990-", 206, 599_990, 600_000],
  ["bytes=-5", 206, 599_995, 600_000],
  ["bytes=-9999999", 206, 0, 600_000],
  ["bytes=0-9999999", 206, 0, 600_000],
  ["bytes=0-1,5-6", 200, 0, 600_000],
  ["bytes=5-1", 200, 0, 600_000],
  ["bytes=-", 200, 0, 600_000],
  ["lines=0-1", 200, 0, 600_000],
  ["bytes=600000-", 416, 0, 0],
  ["bytes=-0", 416, 0, 0],
])("the range %s is answered with %i", async (range, status, start, end) => {
  const { client, content, id, sha256 } = await large;
  const answer = await download(client, id, { range });
  expect(answer.status).toBe(status);
  if (status === 416) return expect(answer.headers.get("content-range")).toBe("bytes */600000");
  expect(answer.bytes.equals(content.subarray(start, end))).toBe(true);
  expect(answer.headers.get("content-range")).toBe(status === 206 ? `bytes ${start}-${end - 1}/600000` : null);
  expect((await download(client, id, { range, "if-range": `"${sha256}"` })).status).toBe(status);
  expect((await download(client, id, { range, "if-range": '"other"' })).status).toBe(200);
});

const large = (async () => {
  const client = await newClient();
  const content = noise(600_000);
  const { body } = await post(client, formOf([purpose, ["file", ["a", content]]]));
  return { client, content, id: body.id as string, sha256: body.sha256 as string };
})();

test("a client that has the current content gets 304 without a body", async () => {
  const { client, id, sha256 } = await large;
  for (const known of [`"${sha256}"`, `"x", W/"${sha256}"`, "*"]) {
    const { status, bytes, headers } = await download(client, id, { "if-none-match": known });
    expect([status, bytes.length, headers.get("etag")]).toEqual([304, 0, `"${sha256}"`]);
  }
  expect((await download(client, id, { "if-none-match": '"x"' })).status).toBe(200);
});

test("lists filter by purpose and status", async () => {
  const client = await newClient();
  await client.post("/v1/files", { ...attachment("a.txt", "a"), purpose: "code_interpreter" });
  await client.post("/v1/files", { ...attachment("b.txt", "b"), purpose: "retrieval" });
  const names = async (query: string) =>
    (await client.get(`/v1/files?${query}`)).body.data.map(({ filename }: { filename: string }) => filename);
  expect(await names("order=asc")).toEqual(["a.txt", "b.txt"]);
  expect(await names("purpose=retrieval")).toEqual(["b.txt"]);
  expect(await names("status=ready")).toEqual(["a.txt"]);
  expect((await client.get("/v1/files?purpose=x")).status).toBe(400);
});

test("an expired file is gone at once, and its content with the next sweep", async () => {
  let at = 1_800_000_000_000;
  await using timed = testApp({ now: () => at });
  const client = await newClient(timed);
  const upload = { ...attachment("a.txt", "x".repeat(600_000)), expires_in_seconds: 60 };
  const { id } = (await client.post("/v1/files", upload)).body;
  const stays = (await client.post("/v1/files", attachment("b.txt", "b"))).body.id;
  at += 59_999;
  expect((await client.get(`/v1/files/${id}`)).status).toBe(200);
  at += 1;
  for (const path of [`/v1/files/${id}`, `/v1/files/${id}/content`]) expect((await client.get(path)).status).toBe(404);
  expect((await client.delete(`/v1/files/${id}`)).status).toBe(404);
  expect((await client.get("/v1/files")).body.data.map((file: { id: string }) => file.id)).toEqual([stays]);
  expect((await client.get(`/v1/files?order=asc&starting_after=${id}`)).body.data).toMatchObject([{ id: stays }]);
  expect(await settled(client, timed)).toBe(1);
  expect(rows(timed, "files", client)).toBe(1);
});

test("files of other types than documents cannot be added for search", async () => {
  const client = await newClient();
  const { status, body } = await client.post("/v1/files", {
    filename: "a.txt",
    purpose: "retrieval",
    content_base64: "AAAA",
  });
  expect([status, body.error.code]).toEqual([415, "unsupported_file_type"]);
  const message = { filename: "a.doc", purpose: "retrieval", content_base64: "0M8R4KGxGuE=" };
  expect((await client.post("/v1/files", message)).body.error.message).toContain("Save it as DOCX");
  const zipped = { ...message, content_base64: Buffer.from("PK\x03\x04").toString("base64") };
  for (const [filename, advice] of [
    ["a.xlsb", "save it as XLSX"],
    ["a.pages", "Export it as DOCX"],
    ["a.zip", "upload the files in it"],
  ] as const)
    expect((await client.post("/v1/files", { ...zipped, filename })).body.error.message).toContain(advice);
  expect(rows(server, "file_blobs", client)).toBe(0);
});

test("uploads and deletions are in the audit log", async () => {
  const client = await newClient();
  const { id } = (await client.post("/v1/files", attachment("a.txt", "abc"))).body;
  await client.delete(`/v1/files/${id}`);
  const entries = (await client.get(`/v1/audit_log?target_id=${id}`)).body.data;
  const details = { filename: "a.txt", purpose: "attachment", bytes: 3 };
  expect(entries).toMatchObject([
    { action: "file.deleted", target: { type: "file", id }, details },
    { action: "file.created", target: { type: "file", id }, details },
  ]);
});

test("a key with the run scope may upload and read, one with the read scope may only read, and neither may delete", async () => {
  const { scope } = await newClient();
  const named = server.projects.byId(scope.project_id).name;
  const [runner, reader] = [
    await server.client({ project: named, scopes: ["run"] }),
    await server.client({ project: named, scopes: ["read"] }),
  ];
  const { status, body } = await runner.post("/v1/files", attachment("a.txt", "a"));
  expect([status, (await reader.post("/v1/files", attachment("a.txt", "a"))).status]).toEqual([201, 403]);
  for (const client of [runner, reader]) {
    expect((await download(client, body.id)).status).toBe(200);
    expect((await client.delete(`/v1/files/${body.id}`)).status).toBe(403);
  }
});

async function withOutput() {
  const client = await newClient();
  const agent = (await client.post("/v1/agents", { name: "a", instructions: "", model: "test/echo" })).body.id;
  const run = (await client.post("/v1/runs?wait=60", { agent_id: agent, input: "x" })).body.id;
  const output = { id: newId("file"), filename: "out/plot.png", content: Buffer.from("\x89PNG\r\n\x1a\n…", "latin1") };
  const { files } = server;
  const facts = await server.db.write(() =>
    files.insertOutput(client.scope, { ...output, run_id: run, tool_call_id: newId("tool_call") }),
  );
  return { client, agent, run, output, files, facts };
}

test("a file made by a run outlives its run", async () => {
  const { client, run, output, facts } = await withOutput();
  expect(facts).toEqual({
    id: output.id,
    filename: "plot.png",
    mime_type: "image/png",
    bytes: output.content.length,
    sha256: sha256(output.content),
  });
  await client.delete(`/v1/runs/${run}`);
  const { body } = await client.get(`/v1/files/${output.id}`);
  expect(body).toMatchObject({ purpose: "output", status: "ready", run_id: run, expires_at: null });
  expect((await download(client, output.id)).bytes.equals(output.content)).toBe(true);
});

test("a key restricted to agents sees no files made by other agents' runs", async () => {
  const { client, agent, output, files } = await withOutput();
  const upload = (await client.post("/v1/files", attachment("a.txt", "a"))).body.id;
  const project = server.projects.byId(client.scope.project_id).name;
  const bound = (agent_ids: string[]) => server.client({ project, agent_ids });
  const [own, other] = [await bound([agent]), await bound([newId("agent")])];
  const listed = async (by: Client) => (await by.get("/v1/files")).body.data.map(({ id }: { id: string }) => id).sort();
  expect(await listed(own)).toEqual([output.id, upload].sort());
  expect(await listed(other)).toEqual([upload]);
  for (const path of [`/v1/files/${output.id}`, `/v1/files/${output.id}/content`]) {
    expect((await own.get(path)).status).toBe(200);
    expect((await other.get(path)).status).toBe(404);
  }
  expect((await other.delete(`/v1/files/${output.id}`)).status).toBe(404);
  const viewer = { ...client.scope, agent_ids: [newId("agent")] };
  expect(() => files.facts(viewer, [output.id])).toThrow("There is no such file.");
});

test("the facts of named files are returned, or each missing file is reported", async () => {
  const { client, output, files, facts } = await withOutput();
  expect(files.facts(client.scope, [output.id])).toEqual([facts]);
  const elsewhere = { ...client.scope, environment: "live" as const };
  expect(() => files.facts(elsewhere, [output.id])).toThrow("file_ids[0]: There is no such file.");
  const missing = () => files.facts(client.scope, [newId("file"), output.id, newId("file")], "files");
  expect(missing).toThrow(expect.objectContaining({ code: "validation_failed" }));
  expect(missing).toThrow(
    expect.objectContaining({
      errors: [expect.objectContaining({ param: "files[0]" }), expect.objectContaining({ param: "files[2]" })],
    }),
  );
});

test("the size limit of a file is reported", async () => {
  expect((await (await newClient()).get("/v1/me")).body.limits.file_bytes).toBe(100 * megabyte);
});
