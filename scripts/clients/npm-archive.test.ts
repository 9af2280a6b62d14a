import { expect, test } from "bun:test";
import { npmArchive } from "./npm-archive.ts";

const files = [
  ["package/package.json", Buffer.from("{}")],
  ["package/dist/empty.js", Buffer.alloc(0)],
  ["package/dist/block.js", Buffer.alloc(512, "x")],
  ["package/README.md", Buffer.from("# blå\n".repeat(1000))],
] as const;

test("an archive holds its files, and says the same whenever it is made", async () => {
  const archive = npmArchive(files);
  const read = await new Bun.Archive(archive).files();
  expect([...read.keys()]).toEqual(files.map(([path]) => path));
  for (const [path, content] of files) expect(Buffer.from(await read.get(path)!.bytes())).toEqual(Buffer.from(content));
  expect([...new Set([...read.values()].map(({ lastModified }) => lastModified))]).toEqual([499_162_500_000]);
  expect(npmArchive(files)).toEqual(archive);
});

test("a path that does not fit is refused", () => {
  expect(() => npmArchive([[`package/${"x".repeat(100)}`, Buffer.alloc(0)]])).toThrow("too long");
});
