import { expect, test } from "bun:test";
import type { JournalEntry } from "../../domain/run-event.ts";
import { createOutputs } from "./outputs.ts";

test("files made by a tool are forgotten once the run is over, whether or not the call was recorded", () => {
  const outputs = createOutputs({ files: { insertOutput: () => {} } as never });
  const entry = (event: object) => ({ seq: 1, at: 0, event }) as JournalEntry;
  outputs.keep("run_1", "file_1", new Uint8Array(1000));
  outputs.keep("run_2", "file_2", new Uint8Array(10));
  outputs.committed("run_1", [entry({ type: "step.started" })]);
  expect(outputs.waiting_bytes()).toBe(1010);
  outputs.committed("run_1", [entry({ type: "run.cancelled" })]);
  expect(outputs.waiting_bytes()).toBe(10);
});
