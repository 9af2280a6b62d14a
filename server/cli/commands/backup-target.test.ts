import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBackupTarget } from "./backup-target.ts";

const content = Buffer.alloc(100_000, 7);
const zipped = Bun.gzipSync(content);
const now = Date.parse("2026-11-24T03:00:00Z");
const [older, newest] = ["runnel-2026-11-22T03-00-00-000Z.db.gz", "runnel-2026-11-23T03-00-00-000Z.db.gz"];
const key = "5a".repeat(32);

let folder: string;
let file: string;
let made: string;
let store: Bun.Server<undefined>;
/** Returns the response for an object, or for the list if the name is empty. */
let answer: (name: string, request: Request) => Response | Promise<Response>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "runnel-target-"));
  file = join(folder, "fetched.db");
  made = join(folder, "made.db");
  writeFileSync(made, content);
  const at = (request: Request) => new URL(request.url).pathname.replace("/bucket/", "").replace("f/", "");
  store = Bun.serve({ port: 0, idleTimeout: 0, fetch: (request) => answer(at(request), request) });
});
afterEach(async () => {
  await store.stop(true);
  rmSync(folder, { recursive: true });
});

const open = (RUNNEL_BACKUP_KEY?: string, patience = { answer_ms: 20_000, piece_ms: 20_000 }) => {
  const keys = { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret" };
  const environment = { ...keys, AWS_ENDPOINT_URL: store.url.origin, RUNNEL_BACKUP_KEY };
  return openBackupTarget("s3://bucket/f", environment, patience);
};

const listed = (names: readonly string[], more = "") =>
  new Response(
    `<ListBucketResult>${names.map((name) => `<Contents><Key>f/${name}</Key><Size>9</Size></Contents>`).join("")}${more}</ListBucketResult>`,
  );
const never = () => new Promise<never>(() => {});
const impatient = { answer_ms: 50, piece_ms: 50 };

describe("a store of backups", () => {
  test("times out if it does not respond", async () => {
    answer = never;
    const target = open(undefined, impatient);
    const works = [() => target.newest(now), () => target.fetch(newest!, file), () => target.store(made, now)];
    for (const work of works) await expect(work()).rejects.toThrow("it has not moved for 0.05 s");
  });

  test("times out if it stalls in the middle of a backup", async () => {
    const pull = (controller: ReadableStreamDefaultController) => {
      controller.enqueue(zipped.subarray(0, 50));
      return never();
    };
    answer = () => new Response(new ReadableStream({ pull }, { highWaterMark: 0 }));
    await expect(open(undefined, impatient).fetch(newest!, file)).rejects.toThrow("it has not moved");
  });

  test("is refused if it lists the same page for ever", async () => {
    const more = "<IsTruncated>true</IsTruncated><NextContinuationToken>next</NextContinuationToken>";
    answer = () => listed([newest!], more);
    await expect(open().newest(now)).rejects.toThrow("without an end");
  });

  test.each([
    ["fails", "cannot be used", () => new Response("Not today.", { status: 500 })],
    ["has it no more", "cannot be used", () => new Response("<Error><Code>NoSuchKey</Code></Error>", { status: 404 })],
    ["sends a part of it", "is damaged", () => new Response(zipped.subarray(0, zipped.length - 20))],
    ["sends nothing", "is damaged", () => new Response("")],
    ["sends what is none", "is damaged", () => new Response(Buffer.alloc(1000, 1))],
    ["sends more than it", "is damaged", () => new Response(Buffer.concat([zipped, Buffer.alloc(1000, 1)]))],
  ])("that %s gives no backup; the error says that it %s", async (_, said, give) => {
    answer = give;
    await expect(open().fetch(newest!, file)).rejects.toThrow(new RegExp(`^s3://bucket/f/\\S* ${said}: `));
    await expect(open().store(made, now)).rejects.toThrow(new RegExp(`^s3://bucket/f/\\S* ${said}: `));
  });

  test("returns the newest backup, and ignores names without a valid time", async () => {
    const strange = ["runnel-2026-99-23T03-00-00-000Z.db.gz", "runnel-latest.db.gz", "../runnel-2026-11-24.db.gz"];
    answer = (name) => (name === "" ? listed([older!, ...strange, newest!]) : new Response(zipped));
    expect(await open().fetch(null, file)).toBe(newest!);
    expect(readFileSync(file).equals(content)).toBe(true);
    expect((await open().newest(now))?.name).toBe(newest!);
  });

  test("ignores backups from the future, which neither count as the newest nor cause others to be deleted", async () => {
    const deleted: string[] = [];
    const future = ["runnel-2027-11-23T03-00-00-000Z.db.gz", "runnel-2028-11-23T03-00-00-000Z.db.gz"];
    answer = (name, { method }) => {
      if (method !== "DELETE") return listed([older!, newest!, ...future]);
      deleted.push(name);
      return new Response(null, { status: 204 });
    };
    expect((await open().newest(now))?.name).toBe(newest!);
    expect(await open().keepNewest(1, now)).toEqual([older!]);
    expect(deleted).toEqual([older!]);
  });

  test("restores an unencrypted backup, which an attacker may have stored, only by its name if there is a key", async () => {
    answer = (name) => (name === "" ? listed([older!, newest!]) : new Response(zipped));
    const target = open(key);
    expect(await target.newest(now)).toBeUndefined();
    await expect(target.fetch(null, file)).rejects.toThrow(`Name one to take it as it is: s3://bucket/f/${newest}`);
    expect(existsSync(file)).toBe(false);
    expect(await target.fetch(newest!, file)).toBe(newest!);
    answer = (name) => (name === "" ? listed([`${older}.age`, newest!]) : new Response("age-encryption.org/v1\nno"));
    await expect(target.fetch(null, join(folder, "other.db"))).rejects.toThrow("is damaged");
  });

  test("is reported with the reason why it cannot be used: no listener, a refusal, or a wrong key", async () => {
    let sealed: ArrayBuffer | undefined;
    answer = async (_, request) => {
      if (request.method === "PUT") sealed = await request.arrayBuffer();
      return new Response(request.method === "PUT" ? null : sealed!);
    };
    await open(key).store(made, now);
    const name = `${newest}.age`;
    await expect(open("0".repeat(64)).fetch(name, file)).rejects.toThrow(`${name} is encrypted under another key`);

    const refusal = "<Error><Code>AccessDenied</Code><Message>Not for you.</Message></Error>";
    answer = () => new Response(refusal, { status: 403 });
    await expect(open().newest(now)).rejects.toThrow(
      `s3://bucket/f/ cannot be used: Not for you. (${store.url.origin})`,
    );
    const target = open();
    await store.stop(true);
    await expect(target.newest(now)).rejects.toThrow("cannot be used: ConnectionRefused");
  });

  test("ignores an empty variable for its endpoint or region, and refuses a malformed URL", () => {
    const keys = { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret", AWS_REGION: "" };
    expect(() => openBackupTarget("s3://bucket", { ...keys, AWS_ENDPOINT_URL: "" })).not.toThrow();
    for (const wrong of ["minio:9000", "ftp://minio"])
      expect(() => openBackupTarget("s3://bucket", { ...keys, AWS_ENDPOINT_URL: wrong })).toThrow(
        "AWS_ENDPOINT_URL takes",
      );
    expect(() => openBackupTarget("/backups", keys)).toThrow('unlike "/backups"');
  });
});
