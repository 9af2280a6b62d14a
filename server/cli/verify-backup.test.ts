import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { temporaryFolder } from "../testing/temporary.ts";
import { verify } from "./verify-backup.ts";

test("a file that is no backup is named, and no restore over the folder that it lies in is advised", async () => {
  using folder = temporaryFolder();
  for (const [name, content] of [
    ["junk.db", "junk"],
    ["empty.db", ""],
    ["half.db", "SQLite format 3\0"],
  ] as const) {
    const file = folder.file(name);
    writeFileSync(file, content);
    const refused = await verify(file, {}).then(String, (error: Error) => error.message);
    expect([refused, refused.startsWith(file), refused.includes("restore")]).toEqual([refused, true, false]);
  }
});
