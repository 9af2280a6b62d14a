import { getPriority, setPriority } from "node:os";
import { basename } from "node:path";
import { singleMachineSuites } from "../e2e/cluster/alone-only.ts";
import { startPostgres } from "../server/testing/postgres.ts";
import { inProject, root } from "./root.ts";
import { isFresh } from "./stamp.ts";
import { rerunFailed, runBrowser, runEach, type TestRun } from "./test-runner.ts";

if (!isFresh()) {
  const { build } = await import("./build.ts");
  await build();
}

// Programs of the sandbox have the lowest priority: beside busy suites of the usual one they would wait for minutes.
const ofSuites = 12;
setPriority(Math.max(ofSuites, getPriority()));

// In this mode each server of a suite is a leader with a spare, and the suite calls the spare.
const inCluster = process.env.RUNNEL_E2E_CLUSTER === "1";
if (inCluster && !startPostgres.orSkipped("suites through a spare")) process.exit(0);
await using postgres = inCluster ? await startPostgres() : null;
if (postgres) process.env.RUNNEL_E2E_CLUSTER = postgres.url;

// Ends a test that hangs, and with it the servers of its suite: longer than any takes on a busy machine.
const hang_ms = 180_000;

// Arguments choose suites: `npm run e2e -- recovery`.
const wanted = process.argv.slice(2);
// A minute and a half of full load: every night, or when it is named.
const isNightly = process.env.RUNNEL_NIGHTLY === "1" || wanted.length > 0;
const suites = (pattern: string) =>
  [...new Bun.Glob(`e2e/${pattern}`).scanSync({ cwd: root })]
    .filter((path) => isNightly || path !== "e2e/noisy-project.e2e.ts")
    .filter((path) => !inCluster || !(path.replace(/^e2e\//, "").replace(/\.ts$/, "") in singleMachineSuites))
    .filter((path) => wanted.length === 0 || wanted.some((word) => path.includes(word)))
    .sort();

// Three use the whole machine, two nearly all the allowed memory: they run alone.
const measuring = /\/(files|handover|kill-storm|masking|noisy-project)\.e2e\.ts$/;
// The browser suites end first; these suites use the free cores then.
const later = /\/(connect|durable-streams|recall|schedules|search)\.e2e\.ts$/;
const bunSuites = Object.groupBy(suites("*.e2e.ts"), (path) =>
  measuring.test(path) ? "alone" : later.test(path) ? "later" : "beside",
);
/** Approximate seconds of the longest suites: they begin first, so that none continues alone at the end. */
const seconds: Record<string, number> = {
  docs: 290,
  "projects-move": 190,
  clients: 190,
  "kill-storm": 170,
  migration: 120,
  "client-typescript": 100,
  "client-python": 100,
  "hostile-documents": 90,
  cluster: 80,
  egress: 80,
  subagents: 75,
  python: 75,
  recall: 70,
  streams: 70,
  indexing: 55,
  failpoints: 55,
  connect: 55,
  "client-hostile": 40,
  npm: 40,
  debian: 40,
  "durable-streams": 35,
};

// Two suites and two browsers leave no core idle. More at once would not end sooner: all would wait longer, and a test
// with a deadline would miss it.
const [beside, browser] = await Promise.all([
  runBunSuites("", bunSuites.beside, 2),
  runBrowserSuites(suites("*.browser.ts")).then(async (runs) => [
    ...runs,
    ...(await runBunSuites("-later", bunSuites.later, 2)),
  ]),
]);
process.exitCode = await rerunFailed([...beside, ...browser, ...(await runBunSuites("-alone", bunSuites.alone))]);

function runBunSuites(which: string, paths: string[] = [], atOnce = 1): Promise<TestRun[]> {
  const secondsOf = (path: string) => seconds[basename(path, ".e2e.ts")] ?? 10;
  const longestFirst = paths.toSorted((one, other) => secondsOf(other) - secondsOf(one));
  const name = (inCluster ? "e2e-cluster" : "e2e") + which;
  return runEach(name, longestFirst, { flags: [`--timeout=${hang_ms}`], atOnce });
}

async function runBrowserSuites(paths: string[]): Promise<TestRun[]> {
  if (paths.length === 0) return [];
  const playwright = inProject("node_modules/@playwright/test/cli.js");
  const command = [process.execPath, "--bun", playwright, "test", "--config=e2e/playwright.config.ts"];
  return [await runBrowser(inCluster ? "browser-cluster" : "browser", command, paths)];
}
