import { expect, test } from "bun:test";
import { unzipSync } from "fflate";
import { zipOf } from "./zip.ts";

test("a zip holds its files, and is the same each time", async () => {
  const files = [
    ["runnel/runnel.exe", Buffer.from("MZ".repeat(10_000))],
    ["runnel/README.md", Buffer.from("# blå\n")],
  ] as const;
  const [one, other] = await Promise.all([zipOf(files), zipOf(files)]);
  expect(one).toEqual(other);
  const read = Object.entries(unzipSync(one)).map(([path, content]) => [path, Buffer.from(content)]);
  expect(read).toEqual(files.map(([path, content]) => [path, content]));
});
