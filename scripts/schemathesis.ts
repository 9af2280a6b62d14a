// Checks the API against its own description: schemathesis sends valid and invalid requests of GET /v1/openapi.json for
// a bounded time, and any 5xx, undocumented status or response against its schema is a failure. SEED=<n> repeats a
// run's requests. It needs python3 with venv (PYTHON names another one) and fetches the pinned schemathesis from PyPI
// into .tools/; if that is unavailable, it says so and exits with 0.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startRunnel } from "../e2e/harness.ts";
import { pythonWith } from "./python-tool.ts";

const version = "4.32.5";
const seconds = 60;
const checks = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_headers_conformance",
  "response_schema_conformance",
];
// These operations revoke the key in use, or connect to made-up addresses.
const left_out = [
  "api_keys.revoke",
  "api_keys.rotate",
  "api_keys.update",
  "webhooks.test",
  "webhooks.redeliver",
  "webhooks.deliveries.redeliver",
];

const programs = await pythonWith(`schemathesis-${version}`, [`schemathesis==${version}`]);
if (!programs) {
  console.log(
    `schemathesis: skipped, since ${version} cannot be installed here (it needs python3 with venv, and PyPI).`,
  );
  process.exit(0);
}

const server = await startRunnel();
// The same requests each time, so that a failure comes from a change; SEED=<number> for others.
const seed = process.env.SEED ?? "298419296";
const description = join(server.folder, "openapi.json");
const certificate = join(server.folder, "ca.pem");
writeFileSync(description, JSON.stringify((await server.get("/v1/openapi.json")).body));
writeFileSync(certificate, server.ca ?? "");
await fill();
// One worker, because Python 3.11 may fail when two threads parse at once (SystemError: AST constructor recursion
// depth).
const child = Bun.spawn(
  [
    join(programs, "schemathesis"),
    "run",
    description,
    "--url",
    server.url,
    "--tls-verify",
    certificate,
    "--no-color",
    "--header",
    `Authorization: Bearer ${server.keys.test}`,
    "--seed",
    seed,
    "--no-shrink",
    "--phases",
    "examples,coverage,fuzzing",
    "--max-examples",
    "8",
    "--max-time",
    String(seconds),
    "--checks",
    checks.join(),
    "--warnings",
    "off",
    "--continue-on-failure",
    "--request-timeout",
    "20",
    ...left_out.flatMap((id) => ["--exclude-operation-id", id]),
  ],
  { cwd: server.folder, stdin: "ignore", stdout: "inherit", stderr: "inherit" },
);
const code = await child.exited;
const isUp = (await server.get("/healthz", null)).status === 200;
await server.stop();
console.log(`schemathesis: ${code === 0 && isUp ? "passed" : `failed (repeat it with SEED=${seed})`}`);
process.exit(code === 0 && isUp ? 0 : 1);

/** Creates an item of each kind, so that not every id is unknown. */
async function fill(): Promise<void> {
  const made = async (path: string, body: unknown) => (await server.post(path, body)).body.id as string;
  const agent_id = await made("/v1/agents", { name: "a", instructions: "", model: "test/echo" });
  const thread_id = await made("/v1/threads", { title: "t" });
  await server.post("/v1/runs?wait=10", { agent_id, input: "Hello", thread_id });
  await made("/v1/tools", { name: "ask" });
  await made("/v1/memory", { name: "m", kind: "vector" });
  await made("/v1/memory", { name: "k", kind: "kv" });
  await made("/v1/files", { filename: "a.txt", text: "a", purpose: "attachment" });
  await made("/v1/schedules", { name: "s", agent_id, input: "Go.", cron: "0 9 * * *", timezone: "UTC" });
}
