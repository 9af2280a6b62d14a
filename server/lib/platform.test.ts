import { expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { temporaryFolder } from "../testing/temporary.ts";
import { type Platform, platformOf } from "./platform.ts";
import { createProcessTable, processTable } from "./process-table.ts";

const everywhere = { jail: false, threadPriorities: false, leadsConnections: false, beginsAnew: false, systemd: false };

test.each([
  ["linux", "arm64", { jail: true, systemd: true, processes: "/proc", modes: true }, "vec0.so", "linux-arm64"],
  ["darwin", "arm64", { ...everywhere, processes: null, modes: true }, "vec0.dylib", "darwin-arm64"],
  ["win32", "x64", { ...everywhere, processes: null, modes: false }, "vec0.dll", "windows-x64"],
] as [string, string, Partial<Platform>, string, string][])(
  "%s on %s is never asked for what it lacks",
  (system, cpu, expected, file, of) => {
    const found = platformOf(system, cpu);
    expect(found).toMatchObject(expected);
    expect([found.syncsFolders, found.deletesOpenFiles]).toEqual([system !== "win32", system !== "win32"]);
    expect(found.vec).toEqual({ file, package: `sqlite-vec-${of}` });
  },
);

test("process information of Linux is parsed, even if a name looks like more fields", () => {
  using folder = temporaryFolder();
  const put = (path: string, text: string) => {
    mkdirSync(dirname(folder.file(path)), { recursive: true });
    writeFileSync(folder.file(path), text);
  };
  put("7/stat", `7 (a) R 1 (b) S 1 7 7 0 -1 0 0 0 0 0 150 50 0 0 20 0 3 0 100 9000 512 1\n`);
  put("7/limits", "Limit    Soft Limit  Hard Limit  Units\nMax open files            1024    4096    files\n");
  put("8/limits", "Max open files            unlimited            unlimited            files\n");
  put("7/task/7/stat", "");
  put("7/task/9/stat", "");
  mkdirSync(folder.file("7/fd"));
  symlinkSync("socket:[42]", folder.file("7/fd/3"));
  put("self/environ", "A=1\0B=x=y\0nothing\0");
  put("thread-self/schedstat", "100 2500000 3\n");
  const table = createProcessTable(folder.path);
  expect(table.figures(7)).toEqual({ resident_mb: 2, computed_ms: 2000 });
  const vector = new BigUint64Array([3n, 64n, 6n, 65_536n, 0n, 0n]);
  writeFileSync(folder.file("self/auxv"), new Uint8Array(vector.buffer));
  expect(createProcessTable(folder.path).figures(7)).toEqual({ resident_mb: 32, computed_ms: 2000 });
  expect(table.threads(7).toSorted()).toEqual([7, 9]);
  expect([table.openFilesMax(7), table.openFilesMax(8)]).toEqual([1024, Number.POSITIVE_INFINITY]);
  expect([table.openFiles(7), table.fileOf(7, 3), table.fileOf(7, 4)]).toEqual([[3], "socket:[42]", null]);
  expect(table.firstEnvironment()).toEqual({ A: "1", B: "x=y" });
  expect(table.waitedForCore_ms()).toBe(2.5);
  expect([table.figures(9), table.threads(9), table.openFiles(9)]).toEqual([null, [], null]);
});

test("a system without process information is not asked, and a process counts as one thread", () => {
  const table = createProcessTable(null);
  expect([table.figures(1), table.openFilesMax("self"), table.openFiles("self"), table.fileOf("self", 0)]).toEqual([
    null,
    null,
    null,
    null,
  ]);
  expect([table.threads(5), table.firstEnvironment(), table.waitedForCore_ms()]).toEqual([[5], null, null]);
});

test.skipIf(process.platform !== "linux")("this process finds itself", () => {
  expect(processTable.figures(process.pid)!.resident_mb).toBeGreaterThan(10);
  expect(processTable.threads(process.pid)).toContain(process.pid);
  expect(processTable.firstEnvironment()).toMatchObject({ PATH: expect.any(String) });
});
