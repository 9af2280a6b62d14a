import { mkdirSync, rmSync } from "node:fs";
import { run } from "./process.ts";
import { inProject } from "./root.ts";

/**
 * Runs what is too long for every change: all simulated lives, every interrupted upgrade, long storms with all mutants,
 * the suites through a spare, schemathesis, clients made by OpenAPI generators, a real model server, every page in all
 * widths, all documents of the corpus, and half an hour of load. Continues after a failure and ends with a line for each step.
 *
 *   npm run nightly
 */
process.env.RUNNEL_NIGHTLY = "1";
process.env.CI = "true";

const script = (name: string, ...flags: string[]) => [process.execPath, inProject("scripts", name), ...flags];
const cluster = ["api.e2e", "threads.e2e", "audit.e2e", "usage.e2e", "too-large", "hostile-http", "idempotency.e2e"];
const steps: Record<string, { command: string[]; env?: Record<string, string> }> = {
  check: { command: script("check.ts") },
  tests: { command: script("test.ts") },
  build: { command: script("build.ts") },
  e2e: { command: script("e2e.ts") },
  "e2e through a spare": {
    command: script("e2e.ts", ...cluster, "worker-crash"),
    env: { RUNNEL_E2E_CLUSTER: "1" },
  },
  storm: { command: script("chaos.ts") },
  "storm over a cluster": { command: script("chaos.ts", "--cluster") },
  // These three report that they are skipped, and pass, where npm or PyPI does not have their tools.
  schemathesis: { command: script("schemathesis.ts") },
  "OpenAPI generators": { command: script("openapi-tools.ts") },
  "real model server": { command: script("real-model.ts") },
  screenshots: { command: script("screenshots.ts") },
  // Formats without the programs that they are compared with are left out, and so are packages that cannot be fetched.
  corpus: { command: script("corpus/run.ts") },
  soak: { command: script("soak.ts") },
};

rmSync(inProject("dist/reports"), { recursive: true, force: true });
mkdirSync(inProject("dist/reports"), { recursive: true });
const results: string[] = [];
for (const [name, { command, env }] of Object.entries(steps)) {
  console.log(`\n== ${name}`);
  const started = Date.now();
  const code = await run(command, { env });
  const minutes = ((Date.now() - started) / 60_000).toFixed(1);
  results.push(`${code === 0 ? "ok  " : "FAIL"} ${name} (${minutes} min)`);
  if (code !== 0) process.exitCode = 1;
}
console.log(`\n${results.join("\n")}`);
