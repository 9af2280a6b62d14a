import { expect, test } from "bun:test";
import { openDatabase } from "../../storage/db/open.ts";
import { createMatches, everywhere } from "./matches.ts";

test("a phrase search stops when the client disconnects", async () => {
  const { sqlite, close } = openDatabase(":memory:");
  sqlite.run("INSERT INTO search_words (rowid, place, title, text) VALUES (1, '', '', 'not here')");
  const leave = new AbortController();
  const found = createMatches(sqlite)({
    scope: { project_id: "proj_a", environment: "test" },
    within: everywhere,
    descending: true,
    most: 1,
    words: { expression: "", each: [], beginning: null, stand: () => false },
    signal: leave.signal,
    // There are always more rows.
    select: (_, limit) => Array(limit).fill({ number: 1 }),
  });
  setImmediate(() => leave.abort());
  await expect(found).rejects.toThrow(/abort/i);
  close();
});
