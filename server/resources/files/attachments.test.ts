import { expect, test } from "bun:test";
import { joinChunk } from "../../runtime/documents/join-chunks.ts";
import { openDatabase } from "../../storage/db/open.ts";
import { createAttachments, fairShares } from "./attachments.ts";

const scope = { project_id: "proj_1", environment: "test" as const };

interface Given {
  mime_type?: string;
  purpose?: string;
  status?: string;
  error?: string;
  content?: string;
  chunks?: string[];
  bytes?: number;
  /** Pages that can be drawn. */
  drawable?: number;
  /** Page of the last chunk. */
  last_page?: number;
}

/** Inserts files as rows of the tables. */
function fixture(files: Record<string, Given>, max_wait_ms = 0) {
  const db = openDatabase(":memory:");
  db.sqlite.run("PRAGMA foreign_keys = OFF"); // The contents are inserted directly.
  db.sqlite.run("INSERT INTO projects (id, name, created_at_ms) VALUES ('proj_1', 'p', 0)");
  for (const [id, { mime_type = "text/plain", purpose = "attachment", status = "ready", ...more }] of Object.entries(
    files,
  )) {
    const { error = null, content = "", chunks = [], bytes = Buffer.byteLength(content), last_page = null } = more;
    db.sqlite.run(
      `INSERT INTO files (project_id, environment, id, sha256, bytes, filename, mime_type, purpose, status, error, chunks,
         metadata, created_at_ms) VALUES ('proj_1', 'test', ?, ?, ?, ?, ?, ?, ?, ?, ?, '{}', 0)`,
      [id, id, bytes, `${id}.bin`, mime_type, purpose, status, error, chunks.length],
    );
    for (const [index, text] of chunks.entries())
      db.sqlite.run(
        "INSERT INTO document_chunks (project_id, environment, file_id, chunk_index, text, tokens, page, heading) VALUES ('proj_1', 'test', ?, ?, ?, 1, ?, NULL)",
        [id, index, text, last_page],
      );
  }
  const drawn: string[] = [];
  const attachments = createAttachments({
    db,
    async draw(_, id, count) {
      drawn.push(`${id} ${count}`);
      return Math.min(count, files[id]!.drawable ?? 0);
    },
    read: (_, id, length) => new TextEncoder().encode(files[id]!.content ?? "").subarray(0, length),
    max_wait_ms,
  });
  return {
    db,
    drawn,
    wake: attachments.wake,
    shown: (page_images: { of: "all" | "without_text"; most: number }, max_bytes = 600_000) =>
      attachments.of(scope, { file_ids: Object.keys(files), max_bytes, images: true, page_images }),
    of: (max_bytes = 1000, images = true, pdf = false) =>
      attachments.of(scope, { file_ids: Object.keys(files), max_bytes, images, pdf }),
  };
}

test("a document is its chunks without their overlaps", async () => {
  const chunks = [
    "The first piece ends with these words here.",
    "ends with these words here. And it goes on.",
    "Apart.",
  ];
  const [document] = await fixture({ file_a: { mime_type: "application/pdf", chunks } }).of();
  expect(document).toMatchObject({
    text: "The first piece ends with these words here. And it goes on.\n\nApart.",
    image: false,
    note: null,
  });
});

test("a model that reads PDFs gets the PDF itself, with its text for models that do not", async () => {
  const pdf = { mime_type: "application/pdf" };
  const given = await fixture({
    file_text: { ...pdf, chunks: ["The text."], bytes: 2000 },
    file_scan: {
      ...pdf,
      status: "failed",
      error: JSON.stringify({ code: "document_empty", message: "" }),
      bytes: 250_000,
    },
    file_locked: {
      ...pdf,
      status: "failed",
      error: JSON.stringify({ code: "document_encrypted", message: "Locked." }),
    },
    file_broken: {
      ...pdf,
      status: "failed",
      error: JSON.stringify({ code: "document_unreadable", message: "Broken." }),
    },
    file_heavy: { ...pdf, chunks: ["Heavy."], bytes: 11 * 1024 * 1024 },
    file_code: { ...pdf, purpose: "code_interpreter" },
    file_words: { mime_type: "text/markdown", content: "Words." },
  }).of(100_000, true, true);
  const shown = given.map(({ file_id, native = false, pages, text, note }) => [file_id, native, pages, text, note]);
  expect(shown).toEqual([
    ["file_text", true, 1, "The text.", null],
    // Without text it may still have pictures; its pages are estimated.
    ["file_scan", true, 3, null, null],
    ["file_locked", false, undefined, null, "It could not be read: Locked."],
    ["file_broken", false, undefined, null, "It could not be read: Broken."],
    ["file_heavy", false, undefined, "Heavy.", null],
    ["file_code", false, undefined, null, "Only code tools can read it"],
    ["file_words", false, undefined, "Words.", null],
  ]);
});

test("a PDF of more pages than providers take is given as its text", async () => {
  const { db, of } = fixture({ file_a: { mime_type: "application/pdf", chunks: ["One.", "Last."], bytes: 5000 } });
  const nativeWith = async (pages: number) => {
    db.sqlite.run("UPDATE document_chunks SET page = ? WHERE chunk_index = 1", [pages]);
    return (await of(1_000_000, true, true))[0]?.native ?? false;
  };
  expect([await nativeWith(100), await nativeWith(101)]).toEqual([true, false]);
});

test("PDFs that do not fit into the prompt as they are, page by page, are given as their text", async () => {
  const pdf = { mime_type: "application/pdf", chunks: ["The text."], bytes: 150_000 };
  const { of, db } = fixture({ file_a: pdf, file_b: pdf });
  db.sqlite.run("UPDATE document_chunks SET page = 2");
  const natives = async (bytes: number) => (await of(bytes, true, true)).map(({ native = false }) => native);
  expect([await natives(24_000), await natives(23_999), await natives(11_999)]).toEqual([
    [true, true],
    [true, false],
    [false, false],
  ]);
});

const readable = { mime_type: "application/pdf", chunks: ["The text."], last_page: 3, drawable: 9 };
const unread = { message: "It has no text.", code: "document_empty" };
const textless = { mime_type: "application/pdf", status: "failed", error: JSON.stringify(unread), drawable: 4 };

test("a model that sees images and reads no PDFs gets the pages as images, beside the text", async () => {
  const { shown, drawn } = fixture({ file_a: readable });
  expect(await shown({ of: "all", most: 50 })).toMatchObject([
    { text: "The text.", page_images: 3, pages: 3, note: null, image: false },
  ]);
  expect(drawn).toEqual(["file_a 3"]);
});

test("pages left out are named: beyond those of one document, of one request, and without room in the prompt", async () => {
  const long = { ...readable, last_page: 45, drawable: 45 };
  const facts = async (of: ReturnType<typeof fixture>, most: number, max_bytes?: number) =>
    (await of.shown({ of: "all", most }, max_bytes)).map(({ page_images, note }) => [page_images, note]);
  expect(await facts(fixture({ file_a: long }), 50)).toEqual([
    [20, "Only the first 20 of its 45 pages can be shown as images"],
  ]);
  expect(await facts(fixture({ file_a: readable, file_b: { mime_type: "image/png" }, file_c: long }), 6)).toEqual([
    [3, null],
    [undefined, null],
    [2, "Only the first 2 of its 45 pages can be shown as images"],
  ]);
  expect(await facts(fixture({ file_a: readable }), 50, 12_100)).toEqual([
    [2, "Only the first 2 of its 3 pages can be shown as images"],
  ]);
  expect(await facts(fixture({ file_a: readable }), 50, 6000)).toEqual([
    [undefined, "None of its 3 pages can be shown as images"],
  ]);
});

test("a PDF without text is shown as pages, with the reason", async () => {
  const note = "It could not be read: It has no text.";
  for (const of of ["all", "without_text"] as const)
    expect(await fixture({ file_a: textless }).shown({ of, most: 50 })).toMatchObject([
      { text: null, page_images: 4, pages: 4, note },
    ]);
});

test("a model that may see nothing gets pages of PDFs without text only", async () => {
  const { shown, drawn } = fixture({ file_a: readable, file_b: textless });
  expect((await shown({ of: "without_text", most: 50 })).map(({ page_images }) => page_images)).toEqual([undefined, 4]);
  expect(drawn).toEqual(["file_b 20"]);
});

test("pages that cannot be drawn leave the text, and no run fails", async () => {
  const encrypted = { ...textless, error: JSON.stringify({ message: "Locked.", code: "document_encrypted" }) };
  const { shown, drawn } = fixture({ file_a: { ...readable, drawable: 0 }, file_b: encrypted });
  expect(
    (await shown({ of: "all", most: 50 })).map(({ text, page_images, note }) => [text, page_images, note]),
  ).toEqual([
    ["The text.", undefined, "None of its 3 pages can be shown as images"],
    [null, undefined, "It could not be read: Locked."],
  ]);
  expect(drawn).toEqual(["file_a 3"]);
});

test("the overlaps between chunks of any text appear once", () => {
  const words = Array.from({ length: 3000 }, (_, index) => `w${index * 7919}`).join(" ");
  for (const overlap of [40, 100, 4000]) {
    let text = "";
    for (let at = 0; at < words.length; at += 5000)
      text = joinChunk(text, words.slice(Math.max(0, at - overlap), at + 5000), 4096);
    expect(text).toBe(words);
  }
});

test("a document of several chunks that fits is included whole", async () => {
  const chunks = ["One.", "Two.", "Three."];
  const files = { file_a: { mime_type: "application/pdf", chunks } };
  expect(await fixture(files).of(18)).toMatchObject([{ text: "One.\n\nTwo.\n\nThree.", note: null }]);
});

test("documents share the space: one that needs less than its share leaves the rest to the others", async () => {
  expect(fairShares([10, 500, 500], 310)).toEqual([10, 150, 150]);
  const [short, long] = await fixture({
    file_a: { content: "short" },
    file_b: { content: "é".repeat(500) },
  }).of(105);
  expect(short).toMatchObject({ text: "short", note: null });
  expect(long).toMatchObject({ text: "é".repeat(50), note: expect.stringContaining("Only the first 100 bytes") });
});

test("images are sent as images to a model that sees them, and named to one that does not", async () => {
  const files = { file_a: { mime_type: "image/png" }, file_b: { mime_type: "image/png", bytes: 6_000_000 } };
  expect(await fixture(files).of()).toMatchObject([
    { image: true, text: null, note: null },
    { image: false, note: expect.stringContaining("larger than") },
  ]);
  expect((await fixture(files).of(1000, false))[0]).toMatchObject({
    image: false,
    note: "The model cannot see images",
  });
});

test("a file that cannot be included is named, with the reason", async () => {
  const given = await fixture({
    file_a: {
      mime_type: "application/pdf",
      status: "failed",
      error: '{"code":"document_encrypted","message":"It has a password."}',
    },
    file_b: { mime_type: "application/zip" },
    file_c: { purpose: "code_interpreter", content: "1,2" },
    file_d: { mime_type: "application/pdf", status: "processing" },
  }).of();
  expect(given.map(({ text }) => text)).toEqual([null, null, null, null]);
  expect(given.map(({ note }) => note)).toEqual([
    "It could not be read: It has a password.",
    "Files of this type are not put before the model",
    "Only code tools can read it",
    "It is still being read; its text is not ready",
  ]);
});

test("a file in processing is awaited until it is ready, failed or deleted", async () => {
  const ends: [change: string, expected: object][] = [
    ["UPDATE files SET status = 'ready', chunks = 1", { text: "Read at last.", note: null }],
    ["UPDATE files SET status = 'failed'", { text: null, note: expect.stringContaining("could not be read") }],
    ["UPDATE files SET expires_at_ms = 0", { text: null, note: "It was deleted" }],
  ];
  for (const [change, expected] of ends) {
    const { db, of, wake } = fixture({ file_a: { mime_type: "application/pdf", status: "processing" } }, 60_000);
    const given = of();
    wake(); // A wake-up for another file.
    db.sqlite.run(
      "INSERT INTO document_chunks (project_id, environment, file_id, chunk_index, text, tokens, page, heading) VALUES ('proj_1', 'test', 'file_a', 0, 'Read at last.', 1, NULL, NULL)",
    );
    db.sqlite.run(change);
    wake();
    expect(await given).toMatchObject([expected]);
  }
});
