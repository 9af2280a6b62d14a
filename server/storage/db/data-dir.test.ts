import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DataDirInUse, DataDirRefused, openDataDir } from "./data-dir.ts";
import { writeServerFile } from "./server-file.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "runnel-data-"));
  path = join(folder, "data");
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Starts a real process that locks the directory, reports that, and holds the lock until it is killed. */
async function holder() {
  const program = `
    const { openDataDir } = await import(${JSON.stringify(join(import.meta.dir, "data-dir.ts"))});
    globalThis.held = openDataDir(${JSON.stringify(path)}, { lock: true });
    console.log("held");
    setInterval(() => {}, 1000);`;
  const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", stderr: "inherit" });
  const { value } = await child.stdout.getReader().read();
  expect(new TextDecoder().decode(value)).toBe("held\n");
  return child;
}

test("a new directory is readable by its owner alone", () => {
  openDataDir(path, { lock: false });
  expect(statSync(path).mode & 0o777).toBe(0o700);
});

test("a directory that others can read is refused with the remedy", () => {
  openDataDir(path, { lock: false });
  chmodSync(path, 0o755);
  expect(() => openDataDir(path, { lock: false })).toThrow(`chmod 700 ${path}`);
});

test.skipIf(process.getuid?.() !== 0 || Bun.which("setpriv") === null)(
  "a directory of another user is refused with its owner's name, and is not taken for an empty one",
  () => {
    openDataDir(path, { lock: false });
    chmodSync(folder, 0o755);
    chownSync(path, 4711, 4711);
    const program = `
      const { openDataDir } = await import(${JSON.stringify(join(import.meta.dir, "data-dir.ts"))});
      openDataDir(${JSON.stringify(path)}, { lock: false });`;
    const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    const { exitCode, stderr } = Bun.spawnSync([...nobody, process.execPath, "-e", program]);
    expect({ exitCode, said: stderr.toString() }).toEqual({
      exitCode: 1,
      said: expect.stringContaining(`${path}, which belongs to the user 4711`),
    });
  },
);

test("a missing directory is refused if it must not be created", () => {
  expect(() => openDataDir(path, { lock: false, create: false })).toThrow(DataDirRefused);
  expect(readdirSync(folder)).toEqual([]);
});

test("a second process is refused the lock but may read, and kill -9 of the first one frees the lock", async () => {
  const child = await holder();
  try {
    expect(() => openDataDir(path, { lock: true })).toThrow(DataDirInUse);
    expect(() => openDataDir(path, { lock: true })).toThrow(`${path} is in use by another runnel. Stop`);
    writeServerFile(join(path, "server.json"), {
      address: "https://a:1",
      cacert: null,
      pid: child.pid,
      hands_over: false,
    });
    expect(() => openDataDir(path, { lock: true })).toThrow(
      `in use by another runnel at https://a:1 (process ${child.pid}). Stop`,
    );
    expect(openDataDir(path, { lock: false }).path).toBe(path);
  } finally {
    child.kill("SIGKILL");
    await child.exited;
  }
  openDataDir(path, { lock: true }).release();
});

test("a released lock can be taken again", () => {
  const first = openDataDir(path, { lock: true });
  expect(() => openDataDir(path, { lock: true })).toThrow(DataDirInUse);
  first.release();
  openDataDir(path, { lock: true }).release();
});

test("a created and unused directory is deleted at its release; one with a file stays", () => {
  openDataDir(path, { lock: true }).release();
  expect(readdirSync(folder)).toEqual([]);
  const used = openDataDir(path, { lock: true });
  writeFileSync(used.database, "");
  used.release();
  expect(readdirSync(path).sort()).toEqual(["lock.db", "runnel.db"]);
});

test("an existing directory is left unchanged", () => {
  mkdirSync(path, { mode: 0o700 });
  openDataDir(path, { lock: true }).release();
  expect(readdirSync(folder)).toEqual(["data"]);
});
