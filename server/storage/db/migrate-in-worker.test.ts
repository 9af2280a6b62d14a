import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { temporaryFolder } from "../../testing/temporary.ts";
import { migrateInWorker } from "./migrate-in-worker.ts";

test("a database that cannot be migrated is refused with the error of its cause, and a missing one is not created", async () => {
  using folder = temporaryFolder();
  const [foreign, none] = [folder.file("foreign.db"), folder.file("none.db")];
  using other = new Database(foreign, { create: true });
  other.run("CREATE TABLE theirs (n INTEGER)");
  expect(await migrateInWorker(foreign, null).catch((error: Error) => error)).toMatchObject({
    name: "DatabaseUnusable",
    message: expect.stringContaining("is a database of another program"),
  });
  await migrateInWorker(none, null);
  expect(existsSync(none)).toBe(false);
});
