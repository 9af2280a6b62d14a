import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type Json, type ParsedResponse, parseResponse, type Runnel, runCommand, startRunnel } from "./harness.ts";
import { meanwhile } from "./meanwhile.ts";
import { figuresAvailable, residentBytes, serverPid } from "./process-figures.ts";
import { canMount, smallDisk } from "./small-disk.ts";
import { waitUntil } from "./until.ts";

const megabyte = 1024 * 1024;
const sha256 = (data: Uint8Array): string => new Bun.CryptoHasher("sha256").update(data).digest("hex");

const noise = (bytes: number): Uint8Array<ArrayBuffer> => {
  const data = new Uint8Array(bytes);
  for (let from = 0; from < bytes; from += 65_536) crypto.getRandomValues(data.subarray(from, from + 65_536));
  return data;
};

/** Uploads as multipart, as a client does with a file on its disk. */
async function upload(server: Runnel, content: Uint8Array<ArrayBuffer>, key?: string): Promise<ParsedResponse> {
  const form = new FormData();
  form.append("purpose", "attachment");
  form.append("file", new Blob([content]), "data.bin");
  return parseResponse(await server.fetch("/v1/files", { method: "POST", body: form, key }));
}

/** Uploads from another process, so that this one can measure the server's other responses. */
async function uploadFile(server: Runnel, path: string): Promise<{ status: number; body: Json }> {
  const program = `
    const [path, url, key, ca] = process.argv.slice(-4);
    const body = new FormData();
    body.append("purpose", "attachment");
    body.append("file", Bun.file(path), "data.bin");
    const headers = { authorization: "Bearer " + key };
    const answer = await fetch(url, { method: "POST", body, headers, tls: { ca } });
    process.stdout.write(JSON.stringify({ status: answer.status, body: await answer.json() }));`;
  const command = [process.execPath, "-e", program, path, `${server.url}/v1/files`, server.keys.test, server.ca ?? ""];
  return new Response(Bun.spawn(command, { stdout: "pipe", stderr: "inherit" }).stdout).json();
}

/**
 * Returns a multipart body that sends this many megabytes of its file and then stalls; `sent` resolves when they are
 * sent.
 */
function unfinished(megabytes: number) {
  const { promise: sent, resolve } = Promise.withResolvers<void>();
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  let pieces = -1;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      pieces++;
      if (pieces === 0) controller.enqueue(Buffer.from(`--b\r\n${fileHead}\r\n\r\n`));
      else if (pieces <= megabytes) controller.enqueue(noise(megabyte));
      else {
        resolve();
        await ended;
        controller.error(new Error("The client went away."));
      }
    },
  });
  return { body, sent, end, headers: { "content-type": "multipart/form-data; boundary=b" } };
}
const fileHead = 'Content-Disposition: form-data; name="file"; filename="a"';

/** Returns row counts of the database, as another process sees it. */
function countRows({ dataDir }: Runnel): { files: number; blobs: number; chunks: number } {
  const sqlite = new Database(join(dataDir, "runnel.db"), { readonly: true });
  try {
    const count = (table: string) => sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()!.n;
    return { files: count("files"), blobs: count("file_blobs"), chunks: count("file_chunks") };
  } finally {
    sqlite.close();
  }
}

test("a file of 100 MB is uploaded, downloaded and deleted without lying in memory or delaying others", async () => {
  await using server = await startRunnel();
  const content = noise(100 * megabyte);
  const hash = sha256(content);
  await Bun.write(join(server.folder, "content"), content);
  await upload(server, noise(2 * megabyte)); // The first upload loads code that stays in memory.
  await server.get("/v1/files");
  const memory = () => (figuresAvailable ? residentBytes(serverPid(server.dataDir)) : 0);
  const before = memory();
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, memory())), 5);
  using _ = { [Symbol.dispose]: () => clearInterval(watch) };
  const beside = async <T>(name: string, act: () => Promise<T>): Promise<T> => {
    const { result, responses } = await meanwhile(act(), async () => {
      expect((await server.get("/v1/files?limit=1")).status).toBe(200);
    });
    expect(responses, `responses during the ${name}`).toBeGreaterThan(0);
    return result;
  };
  const { status, body } = await beside("upload", () => uploadFile(server, join(server.folder, "content")));
  expect([status, body.bytes, body.sha256]).toEqual([201, content.length, hash]);
  const path = `/v1/files/${body.id}/content`;
  const got = await beside("download", async () => (await server.fetch(path)).bytes());
  expect(sha256(got)).toBe(hash);
  const part = await server.fetch(path, { headers: { range: `bytes=${50 * megabyte}-${50 * megabyte + 99}` } });
  expect([part.status, (await part.bytes()).length]).toEqual([206, 100]);
  await beside("deletion", async () => {
    expect((await parseResponse(await server.fetch(`/v1/files/${body.id}`, { method: "DELETE" }))).status).toBe(200);
    await waitUntil(() => countRows(server).chunks === 8);
  });
  console.info(`a file of 100 MB takes ${Math.round((most - before) / 1e6)} MB of memory`);
  expect(most - before).toBeLessThan(60e6);
});

test("a file over 100 MB is refused by its announced length, or when it exceeds the limit", async () => {
  await using server = await startRunnel();
  const announced = await upload(server, new Uint8Array(200 * megabyte));
  expect([announced.status, announced.body.error?.code]).toEqual([413, "file_too_large"]);
  const { body, headers, end } = unfinished(110);
  const grown = await parseResponse(await server.fetch("/v1/files", { method: "POST", body, headers }));
  end();
  expect([grown.status, grown.body.error?.code]).toEqual([413, "file_too_large"]);
  await waitUntil(() => countRows(server).blobs === 0);
});

test("a process that is killed in the middle of an upload leaves nothing after its next start", async () => {
  await using server = await startRunnel();
  const kept = await upload(server, noise(megabyte));
  const { body, sent, end, headers } = unfinished(20);
  const answer = server.fetch("/v1/files", { method: "POST", body, headers }).catch(() => null);
  await sent;
  await waitUntil(() => countRows(server).chunks > 40);
  await server.kill9();
  end();
  await answer;
  expect(countRows(server).blobs).toBe(2);
  await server.restart();
  await waitUntil(() => isDeepStrictEqual(countRows(server), { files: 1, blobs: 1, chunks: 4 }));
  expect((await server.fetch(`/v1/files/${kept.body.id}/content`)).status).toBe(200);
});

test("a client that disconnects in the middle of a download logs no bug, and others read the whole file", async () => {
  await using server = await startRunnel();
  const content = noise(20 * megabyte);
  const path = `/v1/files/${(await upload(server, content)).body.id}/content`;
  const gone = new AbortController();
  const answer = await server.fetch(path, { signal: gone.signal });
  await answer.body!.getReader().read();
  gone.abort();
  const others = await Promise.all([1, 2, 3].map(async () => sha256(await (await server.fetch(path)).bytes())));
  expect(others).toEqual(Array(3).fill(sha256(content)));
  expect(server.log()).not.toContain("met a bug");
});

test("a client that disconnects in the middle of an upload leaves nothing", async () => {
  await using server = await startRunnel();
  const { body, sent, end, headers } = unfinished(5);
  const gone = new AbortController();
  const answer = server.fetch("/v1/files", { method: "POST", body, headers, signal: gone.signal }).catch(() => null);
  await sent;
  await waitUntil(() => countRows(server).chunks > 4);
  gone.abort();
  end();
  await answer;
  await waitUntil(() => countRows(server).blobs === 0);
  expect(server.log()).not.toContain("met a bug");
});

test("the same content is stored once per project and environment", async () => {
  await using server = await startRunnel();
  const content = noise(megabyte);
  const [one, two] = await Promise.all([upload(server, content), upload(server, content)]);
  await waitUntil(() => isDeepStrictEqual(countRows(server), { files: 2, blobs: 1, chunks: 4 }));
  const live = await upload(server, content, server.keys.live);
  expect(countRows(server)).toEqual({ files: 3, blobs: 2, chunks: 8 });
  const paths = (id: string) => [`/v1/files/${id}`, `/v1/files/${id}/content`];
  for (const path of [...paths(live.body.id)]) expect((await server.get(path)).status).toBe(404);
  for (const path of [...paths(one.body.id)]) expect((await server.get(path, server.keys.live)).status).toBe(404);
  const remove = (id: string) => server.fetch(`/v1/files/${id}`, { method: "DELETE" });
  for (const { body } of [one, two]) expect((await remove(body.id)).status).toBe(200);
  await waitUntil(() => countRows(server).chunks === 4);
  const left = await server.fetch(`/v1/files/${live.body.id}/content`, { key: server.keys.live });
  expect(sha256(await left.bytes())).toBe(sha256(content));
});

test("a person at the dashboard uploads, downloads and deletes too, and a page of another site cannot", async () => {
  await using server = await startRunnel();
  const project = (await server.get("/v1/me")).body.project_id;
  const own = { "x-runnel-console": "1", origin: server.url };
  const ask = async (method: string, path: string, body: RequestInit["body"], headers: Record<string, string>) =>
    server.fetch(`/console/api${path}`, { method, body, headers, key: null });
  const [, token] = server.setupUrl.split("#");
  const account = JSON.stringify({ email: "ada@example.com", password: "correct horse battery", token });
  const session = (await ask("POST", "/setup", account, own)).headers.get("set-cookie")!.split(";")[0]!;
  const files = `/${project}/test/files`;
  const form = () => {
    const form = new FormData();
    form.append("purpose", "attachment");
    form.append("file", new Blob([content]), "data.bin");
    return form;
  };
  const content = noise(megabyte);
  const foreign = { cookie: session, origin: "https://elsewhere.example" };
  expect((await ask("POST", files, form(), foreign)).status).toBe(403);
  const mine = { ...own, cookie: session };
  const made = await parseResponse(await ask("POST", files, form(), mine));
  expect([made.status, made.body.sha256]).toEqual([201, sha256(content)]);
  const got = await ask("GET", `${files}/${made.body.id}/content`, null, { cookie: session });
  expect(sha256(await got.bytes())).toBe(sha256(content));
  expect((await server.get(`/v1/files/${made.body.id}`)).status).toBe(200);
  expect((await ask("DELETE", `${files}/${made.body.id}`, null, mine)).status).toBe(200);
  expect((await server.get(`/v1/files/${made.body.id}`)).status).toBe(404);
});

test("a backup holds files, and a restore brings them back", async () => {
  await using server = await startRunnel();
  const content = noise(megabyte);
  const { body } = await upload(server, content);
  const backup = join(server.folder, "backup.db");
  expect((await server.command("backup", backup)).code).toBe(0);
  await server.fetch(`/v1/files/${body.id}`, { method: "DELETE" });
  await server.stop();
  const restored = await runCommand(["restore", backup, "--data-dir", server.dataDir, "--force"]);
  expect({ code: restored.code, stderr: restored.stderr }).toMatchObject({ code: 0 });
  await server.restart();
  const got = await server.fetch(`/v1/files/${body.id}/content`);
  expect(sha256(await got.bytes())).toBe(sha256(content));
});

test.skipIf(!canMount())(
  "an upload that would fill the disk is refused with 507, and nothing of it stays",
  async () => {
    using disk = smallDisk(64);
    await using server = await startRunnel({ dataDir: join(disk.path, "data") });
    const kept = (await upload(server, noise(megabyte))).body.id;
    const refused = await upload(server, noise(90 * megabyte)).catch((): Json => null);
    // A client that is still sending may find its connection closed before it has read the response.
    if (refused) expect([refused.status, refused.body.error?.code]).toEqual([507, "storage_full"]);
    await waitUntil(() => countRows(server).blobs === 1);
    expect((await server.fetch(`/v1/files/${kept}/content`)).status).toBe(200);
    // Deleted rows left free pages inside the database.
    await waitUntil(async () => (await upload(server, noise(megabyte))).status === 201);
    expect(server.log()).not.toContain("met a bug");
  },
);
