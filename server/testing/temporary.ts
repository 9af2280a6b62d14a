import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder that goes with the test that made it. */
export function temporaryFolder() {
  const path = mkdtempSync(join(tmpdir(), "runnel-test-"));
  return {
    path,
    file: (name: string): string => join(path, name),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}
