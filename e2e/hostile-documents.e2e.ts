import { afterAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import {
  type HostileDocument,
  mimeTypes,
  validDocuments,
} from "../server/testing/hostile-documents/hostile-document.ts";
import { type HostileImage, hostileImages } from "../server/testing/hostile-documents/images.ts";
import { hostileDocuments } from "../server/testing/hostile-documents.ts";
import { createAgent, stubConnection } from "./fixtures.ts";
import { type Json, parseResponse, type Runnel, startRunnel } from "./harness.ts";
import { startModelServer } from "./model-server.ts";
import { figuresAvailable, residentBytes, serverPid } from "./process-figures.ts";
import { waitUntil } from "./until.ts";

// Documents made to attack their reader, against the executable with its jail.

const megabyte = 2 ** 20;
// A document's text has up to 40 MB, which are held until they are written.
const mostMemory = 300 * megabyte;

const kindOf = ({ name }: Given) => name.slice(0, name.indexOf(":"));

type Given = HostileDocument | HostileImage;

const scanFile = (name: string): URL => new URL(`../server/testing/scans/${name}`, import.meta.url);

/** Uploads a file; returns null if its type has no text. */
async function upload(server: Runnel, filename: string, content: Uint8Array): Promise<Json> {
  const form = new FormData();
  form.append("purpose", "retrieval");
  form.append("file", new Blob([content as Uint8Array<ArrayBuffer>]), filename);
  const { status, body } = await parseResponse(await server.fetch("/v1/files", { method: "POST", body: form }));
  if (status === 415) return null;
  expect({ filename, status, error: body.error }).toEqual({ filename, status: 201, error: null });
  return body;
}

/** Waits until no file is being read any more, and returns all files. */
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

/** Makes small requests all the time and watches the server's memory: returns the number of responses and the peak. */
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

/** Returns the processes that read documents; not the one that scrubs the database a minute after the start. */
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
    return ""; // The process or thread has exited.
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

test("hostile documents fail with a clear code, and neither delay the server nor leave memory or children behind", async () => {
  await using server = await startRunnel();
  await upload(server, "first.txt", validDocuments.txt); // Loads the parts that all documents need.
  await ended(server);
  const hostile: Given[] = [...hostileDocuments, ...hostileImages];
  // Before the measurement, because creating them blocks this process.
  const contents = await Promise.all(hostile.map(({ content }) => content()));
  const stopWatching = watch(server);
  const given = new Map<string, Given>();
  for (const [index, document] of hostile.entries()) {
    const file = await upload(server, `hostile.${kindOf(document)}`, contents[index]!);
    if (file) given.set(file.id, document);
  }
  expect(given.size).toBeGreaterThan(70); // Some have, by their content, a type without text.
  const files = await ended(server);
  const seen = await stopWatching();

  const wrong: string[] = [];
  for (const [id, { name, mime_type, expected }] of given) {
    const { status, error, chunks, mime_type: found } = files.get(id);
    const outcome = status === "ready" ? "text" : error.code;
    // Content of another type is read as that type.
    if (found === mime_type && !(expected as readonly string[]).includes(outcome)) wrong.push(`${name}: ${outcome}`);
    if (found !== mime_type && !/^(text|document_[a-z_]+)$/.test(outcome))
      wrong.push(`${name} as ${found}: ${outcome}`);
    if (status === "ready" ? chunks < 1 : error.message === "") wrong.push(`${name}: says nothing`);
  }
  expect(wrong).toEqual([]);
  expect(seen.responses, "responses while they were read").toBeGreaterThan(2 * given.size);
  expect(seen.memory).toBeLessThan(mostMemory);
  expect(server.log()).not.toMatch(/error .*document|unhandled/i);

  // The server works as before: at most one child waits for the next document, and none outlives the server.
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
  await waitUntil(() => readersOf(pid).length <= 2);
  const left = readersOf(pid);
  expect(await server.stop()).toBe(0);
  await waitUntil(() => !left.some(isAlive));
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
])("a document whose name says %s is read by its content", async (_, filename, content, shown, type) => {
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

test("text in an encoding of its own is read, and the file says that it was guessed", async () => {
  const server = await named;
  // "Name, department" in Chinese, in GBK: the jailed process loads the detector of encodings.
  const content = Buffer.from("d0d5c3fb2cb2bfc3c50ad5c5ceb02cb2d6bfe20ac0eec4c82cc7b0cca80a", "hex");
  const body = { filename: "people.csv", purpose: "retrieval", content_base64: content.toString("base64") };
  const { body: file } = await server.post("/v1/files", body);
  const { status, encoding, warnings } = (await ended(server)).get(file.id);
  expect({ status, encoding }).toEqual({ status: "ready", encoding: "gb18030" });
  expect(warnings).toMatchObject([{ code: "encoding_guessed" }]);
  const { body: chunks } = await server.get(`/v1/files/${file.id}/chunks`);
  expect(chunks.data[0].text).toStartWith("| 姓名 | 部门 |");
});

test("a document that declares another type is read by its content", async () => {
  const server = await named;
  for (const [type, name, content] of [
    ["text/html", "a.pdf", validDocuments.pdf],
    ["application/pdf", "a.txt", validDocuments.txt],
    ['a/b; c="d', "a.md", validDocuments.md],
  ] as const) {
    const form = new FormData();
    form.append("purpose", "retrieval");
    form.append("file", new Blob([content as Uint8Array<ArrayBuffer>], { type }), name);
    const { body } = await parseResponse(await server.fetch("/v1/files", { method: "POST", body: form }));
    expect((await ended(server)).get(body.id)).toMatchObject({ filename: name, status: "ready", error: null });
  }
});

test.each([
  ["minutes.png", "scan.png", "image/png"],
  ["minutes.pdf", "jbig2.pdf", "application/pdf"],
])(
  "the text in an image is found by a search, and its chunks say that OCR read it: %s",
  async (filename, source, mime_type) => {
    const server = await named;
    const { body: store } = await server.post("/v1/memory", { name: "scans", kind: "vector" });
    const form = new FormData();
    form.append("purpose", "retrieval");
    form.append("memory_id", store.id);
    form.append("file", new Blob([readFileSync(scanFile(source))]), filename);
    const { body } = await parseResponse(await server.fetch("/v1/files", { method: "POST", body: form }));
    expect((await ended(server)).get(body.id)).toMatchObject({ mime_type, status: "ready", pages: 1 });
    const { body: found } = await server.post(`/v1/memory/${store.id}/search`, { query: "lamp of the lighthouse" });
    expect(found.data[0]).toMatchObject({
      filename,
      page: 1,
      text: expect.stringContaining("lighthouse"),
    });
    const { body: chunks } = await server.get(`/v1/files/${body.id}/chunks`);
    expect(chunks.data[0]).toMatchObject({ source: "ocr", boxes: expect.arrayContaining([expect.any(Object)]) });
  },
  120_000,
);

test("a model that only sees gets the pages of a PDF as images", async () => {
  await using stub = startModelServer();
  await using server = await startRunnel({ environment: stubConnection(stub.url) });
  const file = await upload(server, "minutes.pdf", readFileSync(scanFile("jbig2.pdf")));
  const agent_id = await createAgent(server, "words-3-0-vision");
  const { body: run } = await server.post("/v1/runs?wait=60", { agent_id, input: "Read it.", file_ids: [file.id] });
  expect(run.status).toBe("completed");
  const { body: trace } = await server.get(`/v1/traces/${run.id}`);
  expect(trace.documents).toMatchObject([{ filename: "minutes.pdf", page_images: 1, pages: 1 }]);
  const sent = JSON.stringify(stub.requests.at(-1)?.messages);
  expect(sent).toContain("Minutes of the harbour committee");
  expect(sent.match(/data:image\/jpeg;base64,/g)).toHaveLength(1);
}, 180_000);
