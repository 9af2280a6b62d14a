import { readFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { inProject, root } from "./root.ts";
import { rerunFailed, runBun, type TestRun } from "./test-runner.ts";

// Programs of the sandbox have the lowest priority: beside busy tests of the usual one they would wait for minutes.
const ofTests = 12;
setPriority(Math.max(ofTests, getPriority()));

// Ends a test that hangs, and the other tests of its process with it: longer than any takes on a busy machine.
const flags = ["--timeout=180000"];
// The runtime's most expensive compiler pays off in long lives: in those of tests it takes a tenth of the processor time.
process.env.BUN_JSC_useFTLJIT ??= "0";
// Words of tests that set or read something of their whole process: the clock, globals, variables, memory, children.
const needsOwnProcess = new RegExp(
  [
    /\b(setSystemTime|useFakeTimers|spyOn|mock|globalThis|setDefaultTimeout|forgetLastId|childCount)\b/,
    /\b(Bun\.(env|gc)|process\.(umask|memoryUsage|chdir|on|once|emit))\b/,
    /\bprocess\.env\.\w+ =|\bdelete process\.env|\b(test|describe)\.concurrent\b/,
  ]
    .map(({ source }) => source)
    .join("|"),
);

// Arguments choose tests and set flags of `bun test`: `npm test -- server/runs -t budget`.
const given = process.argv.slice(2);
process.exitCode = await rerunFailed(
  given.length === 0 ? await runAll() : [await runBun("test", { flags, firstFlags: ["--parallel=3", ...given] })],
);

/**
 * Runs all tests: those that can share their globals in processes that load the server once, beside the others, each
 * file in its own. Five at once on two cores, since many wait.
 */
async function runAll(): Promise<TestRun[]> {
  const files = [...new Bun.Glob("{dashboard,scripts,server}/**/*.test.{ts,tsx}").scanSync({ cwd: root })];
  const run = (name: string, chosen: (path: string) => boolean, firstFlags: string[]) => {
    // The others as exceptions, so that a file in another folder runs. The flag replaces the ones of bunfig.toml.
    const exceptions = ["dist/**", ".tools/**", ...files.filter((path) => !chosen(path))];
    return runBun(name, {
      flags,
      firstFlags: [...firstFlags, ...exceptions.map((path) => `--path-ignore-patterns=${path}`)],
    });
  };
  return await Promise.all([
    run("test", (path) => !canShare(path), ["--parallel=2"]),
    run("test-shared", canShare, ["--parallel=3", "--no-isolate"]),
  ]);
}

/** True if a test neither changes nor measures what the other files of its process use. */
function canShare(path: string): boolean {
  return !needsOwnProcess.test(readFileSync(inProject(path), "utf8"));
}
