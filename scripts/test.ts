import { readFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { inProject, root } from "./root.ts";
import { rerunFailed, runBun, type TestRun } from "./test-runner.ts";

// Programs of the sandbox have the lowest priority: beside busy tests of the usual one they would wait for minutes.
const ofTests = 12;
setPriority(Math.max(ofTests, getPriority()));

const flags = ["--timeout=60000"];
// Words of tests that set or read something of their process (the clock, globals, memory, children), or that wait.
const needsOwnProcess =
  /\b(concurrent|now|performance|setSystemTime|useFakeTimers|spyOn|mock|globalThis|process|Bun\.env|Bun\.gc|setDefaultTimeout|forgetLastId|childCount)\b/;

// Arguments choose tests and set flags of `bun test`: `npm test -- server/runs -t budget`.
const given = process.argv.slice(2);
process.exitCode = await rerunFailed(
  given.length === 0 ? await runAll() : [await runBun("test", { flags, firstFlags: ["--parallel=3", ...given] })],
);

/** Runs all tests: those that can share their globals in one process, beside the others in three, which often wait. */
async function runAll(): Promise<TestRun[]> {
  const files = [...new Bun.Glob("{dashboard,scripts,server}/**/*.test.{ts,tsx}").scanSync({ cwd: root })];
  const shared = files.filter(canShare);
  // Given as exceptions, so that a file in another folder is not left out. The flag replaces the ones of bunfig.toml.
  const exceptions = ["dist/**", ".tools/**", ...shared].map((path) => `--path-ignore-patterns=${path}`);
  return await Promise.all([
    runBun("test", { flags, firstFlags: ["--parallel=3", ...exceptions] }),
    runBun("test-shared", { flags, paths: shared.map((path) => `./${path}`) }),
  ]);
}

/**
 * True if a test of routes can share its globals: it neither sets the clock or globals, nor reads what other files
 * change. Loading the server for each of them would take a third of their processor time.
 */
function canShare(path: string): boolean {
  const source = readFileSync(inProject(path), "utf8");
  return source.includes('testing/test-app.ts"') && !needsOwnProcess.test(source);
}
