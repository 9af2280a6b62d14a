import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzippedTar } from "./gzipped-tar.ts";

const files = [
  ["package/package.json", Buffer.from("{}")],
  ["package/dist/empty.js", Buffer.alloc(0)],
  ["package/dist/block.js", Buffer.alloc(512, "x")],
  ["package/README.md", Buffer.from("# blå\n".repeat(1000))],
] as const;

test("an archive holds its files, and has the same bytes whenever it is created", async () => {
  const archive = gzippedTar(files);
  const read = await new Bun.Archive(archive).files();
  expect([...read.keys()]).toEqual(files.map(([path]) => path));
  for (const [path, content] of files) expect(Buffer.from(await read.get(path)!.bytes())).toEqual(Buffer.from(content));
  expect([...new Set([...read.values()].map(({ lastModified }) => lastModified))]).toEqual([499_162_500_000]);
  expect(gzippedTar(files)).toEqual(archive);
});

test("a path that is too long is refused", () => {
  expect(() => gzippedTar([[`package/${"x".repeat(100)}`, Buffer.alloc(0)]])).toThrow("too long");
});

test("an executable keeps its mode", async () => {
  const folder = mkdtempSync(join(tmpdir(), "runnel-tar-"));
  try {
    writeFileSync(join(folder, "a.tar.gz"), gzippedTar([["bin/run", Buffer.from("#!/bin/sh\nexit 7\n"), 0o755]]));
    expect(Bun.spawnSync(["tar", "-xzf", "a.tar.gz"], { cwd: folder }).exitCode).toBe(0);
    expect(Bun.spawnSync([join(folder, "bin/run")]).exitCode).toBe(7);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
