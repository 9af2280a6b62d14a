import { afterAll, expect, test } from "bun:test";
import { limits } from "../../domain/limits.ts";
import { sha256 } from "../../lib/hash.ts";
import { skillText, tarOf, zipOf } from "../../testing/archives.ts";
import type { Answer } from "../../testing/expect-declared.ts";
import { archiveBody, tarGzOfSkill, uploadSkill } from "../../testing/skills.ts";
import { type Client, type TestApp, testApp } from "../../testing/test-app.ts";

const shared = testApp();
afterAll(() => shared[Symbol.asyncDispose]());

const count = ({ db }: TestApp, table: string): number =>
  db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? 0;

async function send(
  server: TestApp,
  { key }: Client,
  body: Blob | FormData | Uint8Array<ArrayBuffer> | string,
  type?: string,
  more: object = {},
) {
  const headers = { authorization: `Bearer ${key.secret}`, ...(type && { "content-type": type }), ...more };
  const request = new Request("http://localhost/v1/skills", { method: "POST", body, headers });
  const response = await server.app.handle(request);
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}

test("an upload is a skill, whose files are read back unchanged", async () => {
  await using server = testApp();
  const client = await server.client();
  const image = crypto.getRandomValues(new Uint8Array(300_000));
  const skill = await uploadSkill(client, "pdf", { "assets/a.png": image, "scripts/fill.py": "print(1)\n" });
  expect(skill).toEqual({
    id: expect.stringMatching(/^skl_/),
    object: "skill",
    name: "pdf",
    description: "Does things.",
    version: 1,
    license: null,
    compatibility: null,
    allowed_tools: [],
    bytes: skillText("pdf").length + 300_009,
    sha256: expect.any(String),
    files: 3,
    metadata: {},
    created_at: expect.any(String),
    updated_at: skill.created_at,
    ...client.scope,
    request_id: expect.any(String),
  });
  const { body: version } = await client.get(`/v1/skills/${skill.id}/versions/1`);
  expect(version).toMatchObject({ id: skill.id, object: "skill_version", version: 1, name: "pdf" });
  expect(version.files).toEqual([
    { path: "SKILL.md", bytes: skillText("pdf").length, sha256: sha256(skillText("pdf")) },
    { path: "assets/a.png", bytes: 300_000, sha256: sha256(image) },
    { path: "scripts/fill.py", bytes: 9, sha256: sha256("print(1)\n") },
  ]);
  const request = new Request(`http://localhost/v1/skills/${skill.id}/versions/1/content?path=assets/a.png`, {
    headers: { authorization: `Bearer ${client.key.secret}` },
  });
  const response = await server.app.handle(request);
  expect(new Uint8Array(await response.arrayBuffer())).toEqual(image);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "image/png",
    "content-security-policy": "sandbox; default-src 'none'",
    "content-disposition": expect.stringContaining("attachment"),
  });
  const { data } = (await client.get("/v1/skills")).body;
  expect(data).toEqual([expect.objectContaining({ id: skill.id, name: "pdf" })]);
});

test("an archive is taken as the body, as a part of a form and in JSON", async () => {
  const client = await shared.client({ project: "forms" });
  const archive = zipOf([{ path: "a/SKILL.md", content: skillText("a") }]);
  const form = new FormData();
  form.append("file", new File([archive], "a.zip"));
  const answers = [
    await send(shared, client, archive, "application/zip"),
    await send(shared, client, form),
    await client.post("/v1/skills", archiveBody(archive)),
    await send(shared, client, tarGzOfSkill("a"), "application/gzip"),
    await send(shared, client, tarOf([{ path: "a/SKILL.md", content: skillText("a") }]), "application/x-tar"),
  ];
  expect(answers.map(({ status, body }) => [status, body.name, body.version])).toEqual([
    [201, "a", 1],
    ...Array(4).fill([200, "a", 1]),
  ]);
});

test("a new upload under the same name is a new version, and one with the same files is not", async () => {
  await using server = testApp();
  const client = await server.client();
  const first = await uploadSkill(client, "pdf", { "a.txt": "one" });
  expect((await client.post("/v1/skills", archiveBody(zipOf([{ path: "x", content: "" }])))).status).toBe(400);
  const second = await uploadSkill(client, "pdf", { "a.txt": "two", "b.txt": "b" });
  expect(second).toMatchObject({ id: first.id, version: 2, files: 3, created_at: first.created_at });
  // The first content again is a new version, because it is not the newest.
  expect(await uploadSkill(client, "pdf", { "a.txt": "one" })).toMatchObject({ id: first.id, version: 3 });
  const { data } = (await client.get(`/v1/skills/${first.id}/versions?limit=2`)).body;
  expect(data.map(({ version, files }: { version: number; files: number }) => [version, files])).toEqual([
    [3, 2],
    [2, 3],
  ]);
  const rest = (await client.get(`/v1/skills/${first.id}/versions?starting_after=2`)).body;
  expect([rest.data.length, rest.has_more, rest.data[0].version]).toEqual([1, false, 1]);
  const content = async (version: number) =>
    (await client.get(`/v1/skills/${first.id}/versions/${version}/content?path=a.txt`)).body;
  expect(await Promise.all([1, 2, 3].map(content))).toEqual(["one", "two", "one"]);
});

test("files with the same bytes are stored once, and deletion frees what nothing else has", async () => {
  await using server = testApp();
  const client = await server.client();
  const text = "the same in all of them";
  const pdf = await uploadSkill(client, "pdf", { "a.txt": text, "b.txt": text });
  await uploadSkill(client, "pdf", { "a.txt": text });
  const other = await uploadSkill(client, "other", { "c.txt": text });
  const file = await client.post("/v1/files", { filename: "d.txt", text, purpose: "code_interpreter" });
  expect([count(server, "file_blobs"), count(server, "skill_files")]).toEqual([3, 7]);
  expect((await client.delete(`/v1/skills/${pdf.id}`)).body).toMatchObject({ id: pdf.id, deleted: true });
  await client.delete(`/v1/skills/${other.id}`);
  expect([count(server, "file_blobs"), count(server, "skill_files"), count(server, "skill_versions")]).toEqual([
    1, 0, 0,
  ]);
  expect((await client.get(`/v1/files/${file.body.id}/content`)).body).toBe(text);
  await client.delete(`/v1/files/${file.body.id}`);
  expect(count(server, "file_blobs")).toBe(0);
  for (const path of ["", "/versions", "/versions/1", "/versions/1/content?path=a.txt"])
    expect((await client.get(`/v1/skills/${pdf.id}${path}`)).status).toBe(404);
});

test("a file's deletion leaves the content that a skill has too", async () => {
  await using server = testApp();
  const client = await server.client();
  const file = await client.post("/v1/files", { filename: "d.txt", text: "shared", purpose: "code_interpreter" });
  const skill = await uploadSkill(client, "pdf", { "a.txt": "shared" });
  await client.delete(`/v1/files/${file.body.id}`);
  expect((await client.get(`/v1/skills/${skill.id}/versions/1/content?path=a.txt`)).body).toBe("shared");
});

test.each<[string, Uint8Array, string]>([
  ["leads out of its folder", zipOf([{ path: "../x", content: "" }]), '"../x" leads out of the folder (..).'],
  ["has a link", zipOf([{ path: "a/x", mode: 0o120777 }]), '"a/x" is a link.'],
  ["has no SKILL.md", zipOf([{ path: "a/x" }]), "The archive has no SKILL.md, neither at its root nor in one folder."],
  ["is none", new TextEncoder().encode("hello"), "The archive is neither a zip nor a tar nor a tar.gz."],
  ["is empty", new Uint8Array(), "The archive is neither a zip nor a tar nor a tar.gz."],
])("an archive that %s is a 400 that says so, and nothing is stored", async (_, archive, message) => {
  const client = await shared.client({ project: "refused" });
  const { status, body } = await client.post("/v1/skills", archiveBody(archive));
  expect([status, body.error.code, body.error.param, body.error.message]).toEqual([
    400,
    "validation_failed",
    "file",
    `file: ${message}`,
  ]);
  expect((await client.get("/v1/skills")).body.data).toEqual([]);
});

test("uploads without an archive, with two, too long or compressed are refused", async () => {
  const client = await shared.client({ project: "bodies" });
  const twice = new FormData();
  for (const name of ["a", "b"]) twice.append("file", new File(["x"], name));
  const other = new FormData();
  other.append("archive", new File(["x"], "a"));
  const long = new Uint8Array(limits.skill_archive_bytes + 1);
  const answers = [
    await client.post("/v1/skills", {}),
    await client.post("/v1/skills", { content_base64: "!" }),
    await client.post("/v1/skills", { content_base64: "", name: "a" }),
    await send(shared, client, twice),
    await send(shared, client, other),
    await send(shared, client, new FormData()),
    await send(shared, client, long, "application/zip"),
    await send(shared, client, "x", "application/zip", { "content-encoding": "gzip" }),
    await send(shared, client, "x", "text/plain"),
  ];
  expect(answers.map(({ status, body }) => [status, body.error.code, body.error.param])).toEqual([
    [400, "validation_failed", "content_base64"],
    [400, "validation_failed", "content_base64"],
    [400, "unknown_parameter", "name"],
    [400, "validation_failed", "file"],
    [400, "unknown_parameter", "archive"],
    [400, "validation_failed", "file"],
    [413, "payload_too_large", null],
    [415, "unsupported_media_type", null],
    [415, "unsupported_media_type", null],
  ]);
});

test("a repeated upload with the same Idempotency-Key is answered as the first", async () => {
  const client = await shared.client({ project: "again" });
  const archive = zipOf([{ path: "a/SKILL.md", content: skillText("a") }]);
  const key = { "idempotency-key": "one" };
  const [first, second] = [
    await send(shared, client, archive, "application/zip", key),
    await send(shared, client, archive, "application/zip", key),
  ];
  expect([first.status, second.status, second.body.id]).toEqual([201, 201, first.body.id]);
  const other = await send(shared, client, tarGzOfSkill("b"), "application/zip", key);
  expect([other.status, other.body.error.code]).toEqual([409, "idempotency_key_reused"]);
});

test("uploads of the same name at the same time make versions in a row", async () => {
  await using server = testApp();
  const client = await server.client();
  const skills = await Promise.all(["1", "2", "3", "4"].map((text) => uploadSkill(client, "pdf", { "a.txt": text })));
  expect(skills.map(({ version }) => version).sort()).toEqual([1, 2, 3, 4]);
  expect(new Set(skills.map(({ id }) => id)).size).toBe(1);
});

test("a server without a sandbox reads no skills, and says so", async () => {
  await using server = testApp({ sandbox: "off" });
  const client = await server.client();
  const { status, body } = await client.post("/v1/skills", archiveBody(tarGzOfSkill("a")));
  expect([status, body.error.code]).toEqual([415, "unsupported_media_type"]);
});

test("changes are in the audit log, without the texts of the skill", async () => {
  await using server = testApp();
  const client = await server.client();
  const { id } = await uploadSkill(client, "pdf");
  await uploadSkill(client, "pdf", { "a.txt": "x" });
  await client.delete(`/v1/skills/${id}`);
  const { data } = (await client.get("/v1/audit_log")).body;
  type Entry = { action: string; target: { id: string }; details: object };
  expect(data.map(({ action, target, details }: Entry) => [action, target.id, details]).slice(0, 3)).toEqual([
    ["skill.deleted", id, { name: "pdf", version: 2 }],
    ["skill.updated", id, { name: "pdf", version: 2 }],
    ["skill.created", id, { name: "pdf", version: 1 }],
  ]);
});
