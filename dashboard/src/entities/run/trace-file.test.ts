import { expect, test } from "bun:test";
import { traceFileFault, traceType } from "./trace-file.ts";

test("a capsule is recognized by its first bytes, and other files are sent as exported traces", async () => {
  expect(await traceType(new Blob(["SQLite format 3\0", "rest"]))).toBe("application/vnd.sqlite3");
  for (const text of ["{}", "", "SQLite", "SQLite format 4\0"])
    expect(await traceType(new Blob([text]))).toBe("application/json");
});

test("a file that cannot be imported is rejected before it is sent", () => {
  expect(traceFileFault(null)).toBe("Choose a file.");
  expect(traceFileFault({ size: 0 })).toBe("The file is empty.");
  expect(traceFileFault({ size: 10 })).toBeNull();
  expect(traceFileFault({ size: 2 ** 40 })).toMatch(/^The file is larger than /);
});
