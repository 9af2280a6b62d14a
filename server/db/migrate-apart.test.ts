import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { temporaryFolder } from "../testing/temporary.ts";
import { migrateApart } from "./migrate-apart.ts";

test("a database that cannot be brought forward is refused by the error that says why, and one that is not there is not made", async () => {
  using folder = temporaryFolder();
  const [foreign, none] = [folder.file("foreign.db"), folder.file("none.db")];
  using other = new Database(foreign, { create: true });
  other.run("CREATE TABLE theirs (n INTEGER)");
  expect(await migrateApart(foreign, null).catch((error: Error) => error)).toMatchObject({
    name: "DatabaseUnusable",
    message: expect.stringContaining("is a database of another program"),
  });
  await migrateApart(none, null);
  expect(existsSync(none)).toBe(false);
});
