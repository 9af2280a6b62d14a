import { Database } from "bun:sqlite";
import { afterEach, expect, test } from "bun:test";
import type { Scope } from "../../domain/scope.ts";
import { sha256 } from "../../lib/hash.ts";
import { temporaryFolder } from "../../testing/temporary.ts";
import { backUp } from "./backup.ts";
import { BlobReader, FileBlobs, type Upload } from "./file-blobs.ts";
import { type Db, openDatabase } from "./open.ts";

const scope: Scope = { project_id: "proj_1", environment: "test" };
const opened: Db[] = [];
afterEach(() => {
  for (const db of opened.splice(0)) db.close();
});

function open(path = ":memory:", projects = [scope.project_id]) {
  const db = openDatabase(path);
  opened.push(db);
  for (const id of projects)
    db.sqlite.query("INSERT OR IGNORE INTO projects (id, name, created_at_ms) VALUES (?, ?, 0)").run(id, id);
  const count = (table: string): number =>
    db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()!.n;
  return { db, blobs: new FileBlobs({ db, pause_ms: 0 }), count };
}

let files = 0;
/** Inserts a file with this content, without which the content is unused. Call it inside a write. */
function insertFile({ sqlite }: Db, { project_id, environment }: Scope, hash: string): string {
  const id = `file_${files++}`;
  sqlite
    .query(`INSERT INTO files (project_id, environment, id, sha256, bytes, filename, mime_type, purpose, status, metadata, created_at_ms)
       VALUES (?, ?, ?, ?, 0, 'f', 't', 'output', 'ready', '{}', 0)`)
    .run(project_id, environment, id, hash);
  return id;
}

function remove(db: Db, blobs: FileBlobs, id: string, hash: string): Promise<void> {
  return db.write(() => {
    db.sqlite.query("DELETE FROM files WHERE id = ?").run(id);
    blobs.release(scope, hash);
  });
}

const random = (bytes: number): Uint8Array =>
  Buffer.concat(
    Array.from({ length: Math.ceil(bytes / 65_536) }, () => crypto.getRandomValues(new Uint8Array(65_536))),
  ).subarray(0, bytes);

async function upload(blobs: FileBlobs, data: Uint8Array, piece = 100_000, of = scope): Promise<Upload> {
  const arriving = blobs.begin(of);
  for (let from = 0; from < data.length; from += piece) await arriving.append(data.subarray(from, from + piece));
  return arriving;
}

async function store(db: Db, blobs: FileBlobs, data: Uint8Array, of = scope): Promise<{ id: string; hash: string }> {
  const arriving = await upload(blobs, data, 100_000, of);
  const id = await db.write(() => {
    arriving.keep();
    return insertFile(db, of, arriving.content().sha256);
  });
  arriving.close();
  return { id, hash: arriving.content().sha256 };
}

const chunk = 256 * 1024;

test.each([0, 1, chunk - 1, chunk, chunk + 1, 3 * chunk, 1_000_000])(
  "%i bytes are read as they were written, whole and by ranges",
  async (size) => {
    const { db, blobs } = open();
    const data = random(size);
    const { hash } = await store(db, blobs, data);
    const content = blobs.open(scope, hash)!;
    expect([hash, content.bytes]).toEqual([sha256(data), size]);
    expect(sha256(Buffer.concat([...content.read()]))).toBe(hash);
    for (const [start, end] of [
      [0, 1],
      [size - 1, size],
      [chunk - 2, chunk + 2],
      [5, size - 5],
      [7, 7],
    ] as const) {
      if (start < 0 || end > size || start > end) continue;
      expect(Buffer.concat([...content.read({ start, end })]).equals(data.subarray(start, end))).toBe(true);
    }
  },
);

test("equal content is stored once, and deleted with its last file", async () => {
  const { db, blobs, count } = open();
  const data = random(1_000_000);
  const [one, two] = [await store(db, blobs, data), await store(db, blobs, data)];
  await db.write(() => insertFile(db, scope, blobs.put(scope, data).sha256));
  await blobs.collect();
  expect([count("file_blobs"), count("file_chunks")]).toEqual([1, 4]);
  for (const { id, hash } of [one, two]) await remove(db, blobs, id, hash);
  await blobs.collect();
  expect(blobs.open(scope, one.hash)?.bytes).toBe(1_000_000);
  await remove(db, blobs, `file_${files - 1}`, one.hash);
  expect(blobs.open(scope, one.hash)).toBeNull();
  await blobs.collect();
  expect([count("file_blobs"), count("file_chunks")]).toEqual([0, 0]);
});

test("projects and environments share no content, and cannot read each other's", async () => {
  const { db, blobs, count } = open(":memory:", ["proj_1", "proj_2"]);
  const others: Scope[] = [
    { ...scope, environment: "live" },
    { ...scope, project_id: "proj_2" },
  ];
  const data = random(300_000);
  const { id, hash } = await store(db, blobs, data);
  for (const other of others) expect(blobs.open(other, hash)).toBeNull();
  for (const other of others) await store(db, blobs, data, other);
  await remove(db, blobs, id, hash);
  await blobs.collect();
  for (const other of others) expect(blobs.open(other, hash)?.bytes).toBe(300_000);
  expect(count("file_chunks")).toBe(4);
});

test("an abandoned upload is deleted, and one in progress is not", async () => {
  const { db, blobs, count } = open();
  const [dropped, arriving] = [await upload(blobs, random(600_000)), await upload(blobs, random(600_000))];
  expect(count("file_chunks")).toBe(4);
  await blobs.collect();
  expect(count("file_chunks")).toBe(4);
  dropped.close(); // Closing it is enough.
  await db.write(() => {});
  expect(count("file_chunks")).toBe(2);
  await arriving.append(random(300_000));
  await db.write(() => {
    arriving.keep();
    insertFile(db, scope, arriving.content().sha256);
  });
  arriving.close();
  await blobs.collect();
  expect(sha256(Buffer.concat([...blobs.open(scope, arriving.content().sha256)!.read()]))).toBe(
    arriving.content().sha256,
  );
});

test("leftovers of a process that ended are found by the next one", async () => {
  const { db, blobs, count } = open();
  await upload(blobs, random(1_000_000));
  expect(count("file_chunks")).toBe(3);
  await new FileBlobs({ db, pause_ms: 0 }).collect();
  expect([count("file_blobs"), count("file_chunks")]).toEqual([0, 0]);
});

test("a write that fails keeps no content", async () => {
  const { db, blobs, count } = open();
  const arriving = await upload(blobs, random(1_000_000));
  const failing = db.write(() => {
    arriving.keep();
    insertFile(db, scope, arriving.content().sha256);
    throw new Error("The last moment.");
  });
  expect(failing).rejects.toThrow("The last moment.");
  await failing.catch(() => {});
  arriving.close();
  await blobs.collect();
  expect([count("files"), count("file_blobs"), count("file_chunks")]).toEqual([0, 0, 0]);
});

test("a file cannot reference missing content, and content that a file references cannot be deleted", async () => {
  const { db, blobs } = open();
  expect(() => insertFile(db, scope, sha256("nothing"))).toThrow("FOREIGN KEY");
  const { hash } = await store(db, blobs, random(10));
  await db.write(() => blobs.release(scope, hash));
  expect(blobs.open(scope, hash)?.bytes).toBe(10);
  expect(() => db.sqlite.run("UPDATE file_blobs SET sha256 = NULL")).toThrow("FOREIGN KEY");
});

test("no write deletes more than 4 MB", async () => {
  const { db, blobs, count } = open();
  const { id, hash } = await store(db, blobs, random(12_000_000));
  await remove(db, blobs, id, hash);
  const left: number[] = [count("file_chunks")];
  while ((await db.write(() => blobs.forgetUnused())) > 0) left.push(count("file_chunks"));
  expect(left).toEqual([46, 30, 14, 0]);
});

test("a reader whose content is deleted meanwhile gets an error, and never other bytes", async () => {
  const { db, blobs } = open();
  const data = random(1_000_000);
  const { id, hash } = await store(db, blobs, data);
  const reading = blobs.open(scope, hash)!.read();
  expect(Buffer.from(reading.next().value as Uint8Array).equals(data.subarray(0, chunk))).toBe(true);
  await remove(db, blobs, id, hash);
  await blobs.collect();
  await store(db, blobs, random(1_000_000));
  expect(() => reading.next()).toThrow("deleted while it was read");
});

test("a read-only handle reads content, and a backup contains it", async () => {
  using folder = temporaryFolder();
  const { db, blobs } = open(folder.file("runnel.db"));
  const data = random(700_000);
  const { hash } = await store(db, blobs, data);
  backUp(folder.file("runnel.db"), folder.file("copy.db"));
  for (const path of [folder.file("runnel.db"), folder.file("copy.db")]) {
    const sqlite = new Database(path, { readonly: true, strict: true });
    expect(sha256(Buffer.concat([...new BlobReader(sqlite).open(scope, hash)!.read()]))).toBe(sha256(data));
    sqlite.close();
  }
});
