import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Creates a folder that is deleted at the end of the test that uses it. */
export function temporaryFolder() {
  const path = mkdtempSync(join(tmpdir(), "runnel-test-"));
  return {
    path,
    file: (name: string): string => join(path, name),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}
