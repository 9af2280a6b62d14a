// Checks the API's description with third-party tools: redocly and spectral report no fault, and generators for
// TypeScript and Python create clients from it whose functions are named like the operations, and work against the
// executable. Types for TypeScript let fields with a default out of requests, and the default output for Go compiles. It
// fetches the pinned tools from npm, PyPI and the Go module proxy into .tools/; unavailable tools are reported as
// skipped, and are no failure.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { camel } from "../dashboard/src/lib/client-code.ts";
import { type Runnel, runProgram, startRunnel } from "../e2e/harness.ts";
import { npmWith } from "./npm-tool.ts";
import { pythonWith } from "./python-tool.ts";
import type { OpenApi } from "./sdk-codegen/openapi.ts";
import { toolFolder } from "./tool-folder.ts";

const patience_ms = 120_000;
const go_patience_ms = 600_000; // The first time, Go fetches and compiles the generator.
// hey-api's generator needs a compiler with an API in JavaScript, which TypeScript 7 lacks.
const packages = [
  "@redocly/cli@2.77.0",
  "@stoplight/spectral-cli@6.16.3",
  "@hey-api/openapi-ts@0.99.0",
  "openapi-typescript@7.13.0",
  "typescript@5.9.3",
];
const environment = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };

const inTypeScript = `
import { agentsCreate, agentsList } from "./made/sdk.gen";
import { client } from "./made/client.gen";

client.setConfig({ baseUrl: process.env.RUNNEL_URL!, auth: process.env.RUNNEL_API_KEY! });
const { data: agent, error } = await agentsCreate({ body: { name: "made", instructions: "Echo.", model: "test/echo" } });
if (error) throw new Error(JSON.stringify(error));
const { data: page } = await agentsList({ query: { limit: 10 } });
const names: string[] = (page?.data ?? []).map(({ name }) => name);
console.log(agent!.object, names.includes("made"));
`;

const inPython = `
import os, ssl
from runnel_client import AuthenticatedClient
from runnel_client.api.agents import agents_create, agents_list
from runnel_client.models import CreateAgentRequest

trust = ssl.create_default_context(cafile="ca.pem")
client = AuthenticatedClient(base_url=os.environ["RUNNEL_URL"], token=os.environ["RUNNEL_API_KEY"], verify_ssl=trust)
agent = agents_create.sync(client=client, body=CreateAgentRequest(name="python", instructions="Echo.", model="test/echo"))
page = agents_list.sync(client=client, limit=10)
print(agent.object_, "python" in [one.name for one in page.data])
`;

const requestsInTypeScript = `
import type { components } from "./types";

type Schemas = components["schemas"];
const run: Schemas["CreateRunRequest"] = { agent_id: "support", input: "Hello" };
const agent: Schemas["SyncAgentRequest"] = { instructions: "", model: "test/echo", memory: { history: {} } };
const schedule: Schemas["CreateScheduleRequest"] = {
  name: "Report", agent_id: "support", input: "Hello", cron: "0 9 * * *", timezone: "UTC",
};
console.log(run, agent, schedule);
`;

const generatorForGo = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2";

const [modules, python] = await Promise.all([
  npmWith("openapi-tools-2", packages),
  pythonWith("openapi-python-client-0.29.1", ["openapi-python-client==0.29.1"]),
]);
await using server = await startRunnel();
const document: OpenApi = (await server.get("/v1/openapi.json")).body;
const operations = Object.values(document.paths).flatMap((verbs) => Object.values(verbs));
const ids = operations.map(({ operationId }) => operationId);
writeFileSync(join(server.folder, "openapi.json"), JSON.stringify(document, null, 1));
writeFileSync(join(server.folder, "ca.pem"), server.ca ?? "");

const goGenerator = Bun.which("go") && (await toolFolder("oapi-codegen-2.8.2", installGenerator));

const checks: [string, unknown, () => Promise<string>][] = [
  ["redocly finds nothing", modules, () => redocly(modules!)],
  ["spectral finds nothing", modules, () => spectral(modules!)],
  ["@hey-api/openapi-ts makes a client that type-checks and works", modules, () => typescript(server, modules!)],
  ["openapi-typescript leaves fields with a default optional in requests", modules, () => typesOnly(modules!)],
  ["oapi-codegen's default output compiles", goGenerator, () => inGo(goGenerator!)],
  ["openapi-python-client makes a client that works", python, () => pythonClient(server, python!)],
];
for (const [name, tool, check] of checks) {
  if (!tool) {
    console.log(`skipped: ${name} (its packages cannot be had here)`);
    continue;
  }
  const fault = await check().catch((error: Error) => error.message);
  console.log(fault === "" ? `ok   ${name}` : `FAIL ${name}\n${fault}`);
  if (fault !== "") process.exitCode = 1;
}

/** Returns the output of a program; throws it if the program fails. */
async function outputOf(command: string[], more: Record<string, string> = {}, wait_ms = patience_ms): Promise<string> {
  const { code, stdout, stderr } = await runProgram(command, server.folder, { ...environment, ...more }, wait_ms);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}:\n${stdout}${stderr}`);
  return stdout;
}

async function redocly(modules: string): Promise<string> {
  const report = await outputOf([
    "node",
    join(modules, "@redocly/cli/bin/cli.js"),
    "lint",
    "openapi.json",
    "--format=json",
  ]);
  const { totals, problems } = JSON.parse(report);
  return totals.errors + totals.warnings === 0 ? "" : JSON.stringify(problems, null, 2);
}

async function spectral(modules: string): Promise<string> {
  writeFileSync(join(server.folder, ".spectral.yaml"), 'extends: ["spectral:oas"]\n');
  await outputOf(["node", join(modules, ".bin/spectral"), "lint", "openapi.json", "--fail-severity=warn"]);
  return "";
}

async function typescript({ folder, url, keys }: Runnel, modules: string): Promise<string> {
  // In Bun, because it needs a newer node than the project does.
  const plugins = ["@hey-api/typescript", "@hey-api/sdk", "@hey-api/client-fetch"];
  const generator = join(modules, "@hey-api/openapi-ts/bin/run.js");
  await outputOf([process.execPath, generator, "-i", "openapi.json", "-o", "made", "-p", ...plugins]);
  const sdk = await Bun.file(join(folder, "made/sdk.gen.ts")).text();
  const missing = ids.map((id) => camel(id.replaceAll(".", "_"))).filter((name) => !sdk.includes(`const ${name} = `));
  if (missing.length > 0) return `It has no functions called ${missing.join(", ")}.`;
  writeFileSync(join(folder, "use.ts"), `declare const process: { env: Record<string, string> };\n${inTypeScript}`);
  const flags = ["--noEmit", "--strict", "--skipLibCheck", "--lib", "es2023,dom,dom.iterable"];
  const how = ["--target", "es2023", "--module", "esnext", "--moduleResolution", "bundler"];
  await outputOf(["node", join(modules, "typescript/bin/tsc"), ...flags, ...how, "use.ts"]);
  const connection = { RUNNEL_URL: url, RUNNEL_API_KEY: keys.test, NODE_EXTRA_CA_CERTS: join(folder, "ca.pem") };
  const printed = await outputOf([process.execPath, "use.ts"], connection);
  return printed === "agent true\n" ? "" : printed;
}

async function typesOnly(modules: string): Promise<string> {
  await outputOf(["node", join(modules, "openapi-typescript/bin/cli.js"), "openapi.json", "-o", "types.d.ts"]);
  writeFileSync(join(server.folder, "requests.ts"), requestsInTypeScript);
  await outputOf(["node", join(modules, "typescript/bin/tsc"), "--noEmit", "--strict", "requests.ts"]);
  return "";
}

async function installGenerator(folder: string): Promise<boolean> {
  const env = { ...environment, GOBIN: folder } as Record<string, string>;
  const { code } = await runProgram(["go", "install", generatorForGo], server.folder, env, go_patience_ms);
  return code === 0;
}

async function inGo(generator: string): Promise<string> {
  const folder = join(server.folder, "go");
  mkdirSync(folder);
  writeFileSync(join(folder, "go.mod"), "module made\n\ngo 1.24\n");
  await outputOf([join(generator, "oapi-codegen"), "-package", "made", "-o", "go/made.go", "openapi.json"]);
  await outputOf(["go", "-C", folder, "mod", "tidy"], {}, go_patience_ms);
  return await outputOf(["go", "-C", folder, "build", "./..."], {}, go_patience_ms);
}

async function pythonClient({ folder, url, keys }: Runnel, programs: string): Promise<string> {
  const out = join(folder, "python");
  mkdirSync(out);
  // Disables the formatter, which is not installed.
  writeFileSync(join(folder, "config.yaml"), "post_hooks: []\n");
  const generate = [
    "generate",
    "--path",
    "openapi.json",
    "--output-path",
    out,
    "--overwrite",
    "--config",
    "config.yaml",
  ];
  await outputOf([join(programs, "openapi-python-client"), ...generate]);
  const made = [...new Bun.Glob("runnel_client/api/*/*.py").scanSync({ cwd: out })].map((path) =>
    path.split("/").at(-1),
  );
  const missing = ids.map((id) => `${id.replaceAll(".", "_")}.py`).filter((name) => !made.includes(name));
  if (missing.length > 0) return `It has no modules called ${missing.join(", ")}.`;
  writeFileSync(join(folder, "use.py"), inPython);
  const connection = { RUNNEL_URL: url, RUNNEL_API_KEY: keys.test, PYTHONPATH: out };
  const printed = await outputOf([join(programs, "python"), "use.py"], connection);
  return printed === "agent True\n" ? "" : printed;
}
