import { expect, test } from "bun:test";
import { durablePragmas, pragmasOf } from "../../testing/pragmas.ts";
import { temporaryFolder } from "../../testing/temporary.ts";
import { withData } from "./open-data.ts";

test("a command that writes has the durable pragmas of the server, on a new database and on one in use", async () => {
  using folder = temporaryFolder();
  const path = folder.file("data");
  await withData(path, { create: true }, async ({ db: server }) => {
    expect(pragmasOf(server.sqlite)).toEqual(durablePragmas);
    await withData(path, { create: false }, async ({ db }) => expect(pragmasOf(db.sqlite)).toEqual(durablePragmas));
  });
});
