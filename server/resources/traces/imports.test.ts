import { expect, test } from "bun:test";
import type { CapsuleOutcome } from "../../runtime/sandbox/capsule-reader.ts";
import { createAudit } from "../../storage/db/audit.ts";
import { runFixture } from "../../testing/run-fixture.ts";
import { createImports } from "./imports.ts";

test("slow imports of one project leave a slot to another project's", async () => {
  using fixture = runFixture();
  const read: number[] = [];
  const gates: ((outcome: CapsuleOutcome) => void)[] = [];
  const imports = createImports({
    journal: fixture.journal,
    audit: createAudit({ db: fixture.db }),
    now: Date.now,
    readCapsule({ bytes }) {
      read.push(bytes);
      return new Promise((resolve) => gates.push(resolve));
    },
  });
  const take = (project_id: string, bytes: number) =>
    imports
      .take({ ...fixture.author, project_id }, null, { bytes, content: [] }, new AbortController().signal)
      .catch((error: Error) => error.message);
  const noisy = [1, 2, 3].map((bytes) => take("proj_noisy", bytes));
  const quiet = take("proj_quiet", 9);
  await new Promise((resolve) => setImmediate(resolve));
  expect(read).toEqual([1, 9]);
  gates[1]!({ error: "It is none." });
  expect(await quiet).toBe("The capsule cannot be read. It is none.");
  for (let at = 0; at < 4; at++) {
    gates[at]?.({ error: "It is none." });
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(noisy);
  expect(read).toEqual([1, 9, 2, 3]);
});
