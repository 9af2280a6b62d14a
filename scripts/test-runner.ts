import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { basename } from "node:path";
import { inProject, root } from "./root.ts";

/** A test file that failed once and passed when it ran again, alone. */
interface FlakyFile {
  file: string;
  /** Number of its tests that failed in the first run. The report of that run counts them as failures. */
  failures: number;
  /** Output of the run that failed. */
  first: string;
  /** Output of the run that passed. */
  second: string;
}

/** A run of several test files. */
export interface TestRun {
  /** Exit code of the runner. */
  code: number;
  output: string;
  failed: FailedFile[];
  /** Command that runs one file alone. */
  alone: (file: string) => Command;
}

interface FailedFile {
  file: string;
  failures: number;
}

interface Command {
  command: string[];
  env?: Record<string, string>;
}

/** Folder of the reports that `.ci/run` reads. Tests of this file set another one. */
const reports = process.env.RUNNEL_REPORTS ?? inProject("dist/reports");
const flakyPath = `${reports}/flaky.json`;

/**
 * Runs `bun test` and prints its output.
 *
 * @param name of the JUnit report in `dist/reports`, without its extension.
 * @param flags for this run and for one of a file alone, such as `--timeout`.
 * @param firstFlags for this run only, such as `--parallel`.
 * @param paths of the test files or patterns that choose them; empty: all that `bun test` finds.
 */
export async function runBun(
  name: string,
  { flags, firstFlags = [], paths = [] }: { flags: string[]; firstFlags?: string[]; paths?: string[] },
): Promise<TestRun> {
  const report = newReport(name);
  const junit = ["--reporter=junit", `--reporter-outfile=${report}`];
  const { code, output } = await spawnTee({
    command: [process.execPath, "test", ...flags, ...firstFlags, ...junit, ...paths],
  });
  return {
    code,
    output,
    failed: code === 0 ? [] : failedFiles(readReport(report)),
    alone: (file) => ({ command: [process.execPath, "test", ...flags, `./${file}`] }),
  };
}

/** Runs stories in a browser, as `runBun` runs tests. `command` is Playwright's, without paths. */
export async function runBrowser(name: string, command: string[], paths: string[]): Promise<TestRun> {
  const report = newReport(name);
  const { code, output } = await spawnTee({
    // Terminal sequences of Playwright would overwrite lines of the tests beside it.
    command: [...command, "--reporter=list,junit", ...paths],
    env: { PLAYWRIGHT_FORCE_TTY: "0", PLAYWRIGHT_JUNIT_OUTPUT_FILE: report },
  });
  return {
    code,
    output,
    failed: code === 0 ? [] : failedFiles(readReport(report)).map((each) => ({ ...each, file: `e2e/${each.file}` })),
    alone: (file) => ({
      command: [...command, "--reporter=list", "--workers=1", "--trace=retain-on-failure", file],
      env: { PLAYWRIGHT_FORCE_TTY: "0" },
    }),
  };
}

/**
 * Runs each failed file once more, alone. A file that passes then counts as passed and is listed in
 * `dist/reports/flaky.json`. Returns the exit code of all runs together.
 */
export async function rerunFailed(runs: readonly TestRun[]): Promise<number> {
  let result = 0;
  for (const run of runs) {
    if (run.code === 0) continue;
    const flaky: FlakyFile[] = [];
    for (const { file, failures } of run.failed) {
      console.log(`\n== once more, alone: ${file}`);
      const second = await spawnTee(run.alone(file));
      if (second.code === 0) flaky.push({ file, failures, first: outputOf(file, run.output), second: second.output });
    }
    noteFlaky(flaky);
    // A run can fail without a failed test, for instance when a file does not compile.
    const isFlaky = run.failed.length > 0 && flaky.length === run.failed.length;
    if (!isFlaky) result = run.code;
  }
  return result;
}

function noteFlaky(files: readonly FlakyFile[]): void {
  if (files.length === 0) return;
  writeFileSync(flakyPath, `${JSON.stringify([...readFlaky(), ...files], null, 2)}\n`);
  for (const { file } of files) console.log(`FLAKY ${file}: failed once, passed alone (dist/reports/flaky.json)`);
}

function readFlaky(): FlakyFile[] {
  try {
    return JSON.parse(readFileSync(flakyPath, "utf8"));
  } catch {
    return [];
  }
}

/**
 * Runs each file in a process of its own, some at a time, in the given order. `bun test` itself runs files in random
 * order, as its tests, so that the longest one can continue alone at the end.
 */
export async function runEach(
  name: string,
  paths: readonly string[],
  { flags, atOnce }: { flags: string[]; atOnce: number },
): Promise<TestRun[]> {
  const [waiting, runs]: [string[], TestRun[]] = [[...paths], []];
  const runWaiting = async () => {
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift())
      runs.push(await runBun(`${name}-${basename(path, ".ts")}`, { flags, paths: [`./${path}`] }));
  };
  await Promise.all(Array.from({ length: atOnce }, runWaiting));
  return runs;
}

/** Path of a JUnit report that is not there yet. */
function newReport(name: string): string {
  mkdirSync(reports, { recursive: true });
  const path = `${reports}/${name}.xml`;
  rmSync(path, { force: true });
  return path;
}

function readReport(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/**
 * Files with failed tests in a JUnit report: those of Bun stand two columns in, those of Playwright at the margin.
 * Playwright counts a test that an `expect` failed under `failures`, and one that anything else failed, such as a click
 * that found no button, under `errors`.
 */
export function failedFiles(report: string): FailedFile[] {
  const failuresIn = (attributes: string) =>
    [...attributes.matchAll(/ (?:failures|errors)="(\d+)"/g)].reduce((sum, [, count]) => sum + Number(count), 0);
  return [...report.matchAll(/^(?: {2})?<testsuite name="([^"]*)"([^>]*)>/gm)]
    .map(([, file = "", attributes = ""]) => ({ file, failures: failuresIn(attributes) }))
    .filter(({ failures }) => failures > 0);
}

/** The parts of a run's output that stand below a file's name, or all of it where no line names the file. */
export function outputOf(file: string, output: string): string {
  let isInside = false;
  const own = output.split("\n").filter((line) => {
    if (/^\S+\.(?:test|e2e)\.tsx?:$/.test(line)) isInside = line === `${file}:`;
    return isInside;
  });
  return own.length > 0 ? own.join("\n") : output;
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(0)} s`;

/** Runs a command in the project's folder, prints its output and its times, and returns the output too. */
async function spawnTee({ command, env = {} }: Command): Promise<{ code: number; output: string }> {
  const begun = performance.now();
  const child = Bun.spawn(command, {
    cwd: root,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, ...env },
  });
  const parts: string[] = [];
  const copy = async (stream: ReadableStream<Uint8Array>, to: NodeJS.WriteStream) => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      parts.push(decoder.decode(chunk, { stream: true }));
      to.write(chunk);
    }
  };
  await Promise.all([copy(child.stdout, process.stdout), copy(child.stderr, process.stderr), child.exited]);
  const signal = child.signalCode as NodeJS.Signals | null;
  const computed_s = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6;
  console.log(`-- ${command.at(-1)}: ${seconds(performance.now() - begun)}, processor ${seconds(computed_s * 1000)}`);
  return { code: signal ? 128 + constants.signals[signal] : (child.exitCode ?? 1), output: parts.join("") };
}
