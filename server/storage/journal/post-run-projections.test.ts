import { expect, spyOn, test } from "bun:test";
import { silentLog } from "../../lib/log.ts";
import { runFixture } from "../../testing/run-fixture.ts";
import type { Db } from "../db/open.ts";
import { createPostRunProjections } from "./post-run-projections.ts";

test("a projection pauses for as long as it has worked, not for as long as it has waited", async () => {
  using fixture = runFixture();
  const { id } = await fixture.start([{ text: "Done." }]);
  await fixture.settled(id);
  let now_ms = 0;
  using _clock = spyOn(performance, "now").mockImplementation(() => now_ms);
  using sleeps = spyOn(Bun, "sleep").mockImplementation(async () => {});
  const waits = async (...args: Parameters<Db["write"]>) => {
    now_ms += 1000; // Other work commits.
    return await fixture.db.write(...args);
  };
  const db: Db = { ...fixture.db, write: Object.assign(waits, fixture.db.write) as Db["write"] };
  const ended = createPostRunProjections({ db, journal: fixture.journal, log: silentLog });
  const written = Promise.withResolvers<void>();
  ended.follow({ bit: 1, begin: () => ({ entry: () => void now_ms++, write: written.resolve }) });
  ended.start();
  await written.promise;
  await ended.stop();
  const events = fixture.journal.read(id).length;
  expect(sleeps.mock.calls).toEqual([[4 * events]]);
});
