import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { temporaryFolder } from "../../testing/temporary.ts";
import { verify } from "./verify-backup.ts";

test.each([
  [Bun.gzipSync("a database"), "gunzip <"],
  ["age-encryption.org/v1\n-> scrypt", "age -d"],
])(
  "a backup that is still compressed or encrypted is refused with the command that unpacks it",
  async (content, how) => {
    using folder = temporaryFolder();
    const file = folder.file("runnel-2026-11-28T03-00-00-000Z.db.gz");
    writeFileSync(file, content);
    await expect(verify(file, {})).rejects.toThrow(`or unpack it: ${how} ${file}`);
  },
);

test("a file that is not a backup is named in the error, which does not suggest a restore", async () => {
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
