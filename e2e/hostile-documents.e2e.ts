import { afterAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import {
  type HostileDocument,
  type HostileImage,
  hostileDocuments,
  hostileImages,
  mimeTypes,
  validDocuments,
} from "../server/testing/hostile-documents.ts";
import { type Json, type Runnel, read, startRunnel } from "./harness.ts";
import { figuresAvailable, residentBytes, serverPid } from "./process-figures.ts";
import { until } from "./until.ts";

// Documents that are made to harm whoever reads them, against the executable with its jail.

const megabyte = 2 ** 20;
// What comes back of a document is up to 40 MB of text, which is held until it is written.
const mostMemory = 300 * megabyte;

const kindOf = ({ name }: Given) => name.slice(0, name.indexOf(":"));

type Given = HostileDocument | HostileImage;

/** The file as it was taken; null for one of which no text is read. */
async function upload(server: Runnel, filename: string, content: Uint8Array): Promise<Json> {
  const form = new FormData();
  form.append("purpose", "retrieval");
  form.append("file", new Blob([content as Uint8Array<ArrayBuffer>]), filename);
  const { status, body } = await read(await server.fetch("/v1/files", { method: "POST", body: form }));
  if (status === 415) return null;
  expect({ filename, status, error: body.error }).toEqual({ filename, status: 201, error: null });
  return body;
}

/** All files, once none is being read any more. */
async function ended(server: Runnel): Promise<Map<string, Json>> {
  for (const end = performance.now() + 400_000; performance.now() < end; await Bun.sleep(100)) {
    const files: Json[] = [];
    for (let more = true, at = ""; more; at = `&starting_after=${files.at(-1).id}`) {
      const { body } = await server.get(`/v1/files?limit=100${at}`);
      files.push(...body.data);
      more = body.has_more;
    }
    if (files.every(({ status }) => status === "ready" || status === "failed"))
      return new Map(files.map((file) => [file.id, file]));
  }
  throw new Error(`Documents were read without an end:\n${server.log()}`);
}

/** Makes small requests all the time, and looks at the server's memory: how many had a response, and what it took at most. */
function watch(server: Runnel) {
  const pid = serverPid(server.dataDir);
  const memory = () => (figuresAvailable ? residentBytes(pid) : 0);
  const [before, seen] = [memory(), { responses: 0, memory: 0 }];
  let isOver = false;
  const done = (async () => {
    while (!isOver) {
      expect((await server.get("/v1/me")).status).toBe(200);
      seen.responses++;
      seen.memory = Math.max(seen.memory, memory() - before);
      await Bun.sleep(20);
    }
  })();
  return async () => {
    isOver = true;
    await done;
    return seen;
  };
}

/** The processes in which documents are read; not the one that reads the database through, a minute after the start. */
function readersOf(pid: number): number[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  const children = threads.flatMap((thread) =>
    told(`${pid}/task/${thread}/children`).split(" ").filter(Boolean).map(Number),
  );
  return children.filter((child) => told(`${child}/cmdline`).includes("sandbox-run"));
}

function told(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, "latin1");
  } catch {
    return ""; // It has ended: a process, or a thread.
  }
}

const isAlive = (pid: number): boolean => {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
};

const named = startRunnel();
afterAll(async () => (await named)[Symbol.asyncDispose]());

test("hostile documents fail with a clear code, and neither hold the server up nor cost it memory or children", async () => {
  await using server = await startRunnel();
  await upload(server, "first.txt", validDocuments.txt); // The first one loads what all need.
  await ended(server);
  const hostile: Given[] = [...hostileDocuments, ...hostileImages];
  const contents = await Promise.all(hostile.map(({ content }) => content())); // To make them holds this process up.
  const stopWatching = watch(server);
  const given = new Map<string, Given>();
  for (const [index, document] of hostile.entries()) {
    const file = await upload(server, `hostile.${kindOf(document)}`, contents[index]!);
    if (file) given.set(file.id, document);
  }
  expect(given.size).toBeGreaterThan(70); // Some are of a type, by their content, of which no text is read.
  const files = await ended(server);
  const seen = await stopWatching();

  const wrong: string[] = [];
  for (const [id, { name, mime_type, expected }] of given) {
    const { status, error, chunks, mime_type: found } = files.get(id);
    const outcome = status === "ready" ? "text" : error.code;
    // What has the content of another type is read as that.
    if (found === mime_type && !(expected as readonly string[]).includes(outcome)) wrong.push(`${name}: ${outcome}`);
    if (found !== mime_type && !/^(text|document_[a-z_]+)$/.test(outcome))
      wrong.push(`${name} as ${found}: ${outcome}`);
    if (status === "ready" ? chunks < 1 : error.message === "") wrong.push(`${name}: says nothing`);
  }
  expect(wrong).toEqual([]);
  expect(seen.responses, "responses while they were read").toBeGreaterThan(2 * given.size);
  expect(seen.memory).toBeLessThan(mostMemory);
  expect(server.log()).not.toMatch(/error .*document|unhandled/i);

  // The server is as well as before: at most one child waits for the next document, and none outlives the server.
  for (const [kind, content] of Object.entries(validDocuments)) await upload(server, `valid.${kind}`, content);
  const after = [...(await ended(server)).values()].filter(({ filename }) => filename.startsWith("valid."));
  expect(after.map(({ mime_type, status }) => [mime_type, status]).sort()).toEqual(
    Object.values(mimeTypes)
      .map((type) => [type, "ready"])
      .sort(),
  );
  if (!figuresAvailable) return;
  const pid = serverPid(server.dataDir);
  // One waits for the next PDF, and one for the next of the others.
  await until(() => readersOf(pid).length <= 2);
  const left = readersOf(pid);
  expect(await server.stop()).toBe(0);
  await until(() => !left.some(isAlive));
}, 460_000);

const words = (text: string) => new TextEncoder().encode(text);

test.each<[string, string, Uint8Array, string, string]>([
  ["a path out of everywhere", "../../../etc/passwd.txt", words("text"), "passwd.txt", mimeTypes.txt],
  ["a path of Windows", "C:\\Windows\\system.ini\\a.txt", words("text"), "a.txt", mimeTypes.txt],
  [
    "a header of its own",
    'a"; filename="b.html\r\nx-evil: 1.txt',
    words("text"),
    'a"; filename="b.htmlx-evil: 1.txt',
    mimeTypes.txt,
  ],
  ["a zero and what hides its end", "report\u202etxt.exe\0.txt", words("text"), "reporttxt.exe.txt", mimeTypes.txt],
  ["4,000 characters", `${"é".repeat(3990)}.txt`, words("text"), `${"é".repeat(125)}.txt`, mimeTypes.txt],
  ["nothing but dots", "..", words("text"), "file", mimeTypes.txt],
  ["another type: a PDF", "a.txt", validDocuments.pdf, "a.txt", mimeTypes.pdf],
  ["another type: text", "a.docx", words("text"), "a.docx", mimeTypes.txt],
  ["no type: Latin text", "a.csv", Buffer.from("caf\xe9;1\n", "latin1"), "a.csv", mimeTypes.csv],
])("a document whose name says %s is read as what it is", async (_, filename, content, shown, type) => {
  const server = await named;
  const body = { filename, purpose: "retrieval", content_base64: Buffer.from(content).toString("base64") };
  const { status, body: file } = await server.post("/v1/files", body);
  const { filename: name, mime_type } = file;
  expect({ status, name, mime_type }).toEqual({ status: 201, name: shown, mime_type: type });
  const { status: end, chunks } = (await ended(server)).get(file.id);
  expect({ end, chunks }).toEqual({ end: "ready", chunks: expect.any(Number) });
  const { headers } = await server.fetch(`/v1/files/${file.id}/content`);
  expect(headers.get("content-disposition")).toMatch(/^attachment; filename="[ -~]{1,255}"; filename\*=UTF-8''[!-~]+$/);
  expect([headers.get("x-content-type-options"), headers.get("x-evil")]).toEqual(["nosniff", null]);
});

test("a document that says of itself that it is another type is taken by its content", async () => {
  const server = await named;
  for (const [type, name, content] of [
    ["text/html", "a.pdf", validDocuments.pdf],
    ["application/pdf", "a.txt", validDocuments.txt],
    ['a/b; c="d', "a.md", validDocuments.md],
  ] as const) {
    const form = new FormData();
    form.append("purpose", "retrieval");
    form.append("file", new Blob([content as Uint8Array<ArrayBuffer>], { type }), name);
    const { body } = await read(await server.fetch("/v1/files", { method: "POST", body: form }));
    expect((await ended(server)).get(body.id)).toMatchObject({ filename: name, status: "ready", error: null });
  }
});

test("the letters in an image are found by a search, and its chunks say that they were read from it", async () => {
  const server = await named;
  const { body: store } = await server.post("/v1/memory", { name: "scans", kind: "vector" });
  const form = new FormData();
  form.append("purpose", "retrieval");
  form.append("memory_id", store.id);
  const scan = readFileSync(new URL("../server/testing/scans/scan.png", import.meta.url));
  form.append("file", new Blob([scan]), "minutes.png");
  const { body } = await read(await server.fetch("/v1/files", { method: "POST", body: form }));
  expect((await ended(server)).get(body.id)).toMatchObject({ mime_type: "image/png", status: "ready", pages: 1 });
  const { body: found } = await server.post(`/v1/memory/${store.id}/search`, { query: "lamp of the lighthouse" });
  expect(found.data[0]).toMatchObject({
    filename: "minutes.png",
    page: 1,
    text: expect.stringContaining("lighthouse"),
  });
  const { body: chunks } = await server.get(`/v1/files/${body.id}/chunks`);
  expect(chunks.data[0]).toMatchObject({ source: "ocr", boxes: expect.arrayContaining([expect.any(Object)]) });
}, 120_000);
