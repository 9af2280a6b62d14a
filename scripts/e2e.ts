import { mkdirSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { aloneOnly } from "../e2e/cluster/alone-only.ts";
import { startPostgres } from "../server/testing/postgres.ts";
import { run } from "./process.ts";
import { inProject, root } from "./root.ts";
import { isFresh } from "./stamp.ts";

if (!isFresh()) {
  const { build } = await import("./build.ts");
  await build();
}

// Each server of a suite is a leader and a spare then, and the suite meets the spare.
const inCluster = process.env.RUNNEL_E2E_CLUSTER === "1";
if (inCluster && !startPostgres.orSkipped("suites through a spare")) process.exit(0);
await using postgres = inCluster ? await startPostgres() : null;
if (postgres) process.env.RUNNEL_E2E_CLUSTER = postgres.url;

// Arguments choose suites: `npm run e2e -- recovery`.
const wanted = process.argv.slice(2);
const suites = (pattern: string) =>
  [...new Bun.Glob(`e2e/${pattern}`).scanSync({ cwd: root })]
    .filter((path) => !inCluster || !(path.replace(/^e2e\//, "").replace(/\.ts$/, "") in aloneOnly))
    .filter((path) => wanted.length === 0 || wanted.some((word) => path.includes(word)))
    .sort();

const reports = process.env.CI === "true" ? inProject("dist/reports") : null;
if (reports) mkdirSync(reports, { recursive: true });

// Two take all that the machine has, two come close to the memory that they may take: nothing else runs beside them.
const measuring = /\/(files|handover|masking|noisy-project)\.e2e\.ts$/;
// The browsers are done before the servers: these take their places then.
const later = /\/(connect|durable-streams|recall|schedules|search)\.e2e\.ts$/;
const bunSuites = Object.groupBy(suites("*.e2e.ts"), (path) =>
  measuring.test(path) ? "alone" : later.test(path) ? "later" : "beside",
);
/** About how many seconds the longest suites take: they begin first, or one of them would go on when all others are over. */
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
  "durable-streams": 35,
};

// Browsers wait more than they work, servers the other way round: beside one another they leave no core idle.
const codes = await Promise.all([
  runBunSuites("", bunSuites.beside, ["--parallel=3"]),
  runBrowserSuites(suites("*.browser.ts")).then(
    async (code) => (await runBunSuites("-later", bunSuites.later, ["--parallel=2"])) || code,
  ),
]);
codes.push(await runBunSuites("-alone", bunSuites.alone));
process.exitCode = codes.every((code) => code === 0) ? 0 : 1;

async function runBunSuites(which: string, paths: string[] = [], flags: string[] = []): Promise<number> {
  if (paths.length === 0) return 0;
  const name = (inCluster ? "e2e-cluster" : "e2e") + which;
  const report = reports ? ["--reporter=junit", `--reporter-outfile=${reports}/${name}.xml`] : [];
  const timings = inProject(`dist/${name}-timings.json`);
  const files = paths.map((path) => [path, 1000 * (seconds[basename(path, ".e2e.ts")] ?? 10)]);
  writeFileSync(timings, JSON.stringify({ version: 1, files: Object.fromEntries(files) }));
  // Only with "./" are they taken as paths: `bun test` does not find these names by itself.
  return await run([
    process.execPath,
    "test",
    "--timeout=60000",
    `--timings=${timings}`,
    ...flags,
    ...report,
    ...paths.map((path) => `./${path}`),
  ]);
}

async function runBrowserSuites(paths: string[]): Promise<number> {
  if (paths.length === 0) return 0;
  const playwright = inProject("node_modules/@playwright/test/cli.js");
  const env: Record<string, string> = {
    PLAYWRIGHT_FORCE_TTY: "0", // It would write over the lines of the suites beside it.
    ...(reports && { PLAYWRIGHT_JUNIT_OUTPUT_FILE: `${reports}/${inCluster ? "browser-cluster" : "browser"}.xml` }),
  };
  return await run([process.execPath, "--bun", playwright, "test", "--config=e2e/playwright.config.ts", ...paths], {
    env,
  });
}
