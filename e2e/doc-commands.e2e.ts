import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { writtenPages } from "../scripts/docs/pages.ts";
import { executable, type Runnel, runProgram, startRunnel } from "./harness.ts";

// Commands of the operators' pages (blocks of `sh`) are run against a server, or have a reason why a test cannot run
// them.

const untyped: [RegExp, string][] = [
  [/^(useradd|systemctl|journalctl|install|mv) /m, "changes the machine; e2e/operate.e2e.ts reads the unit"],
  [/^apt install /m, "changes the machine; e2e/debian.e2e.ts installs the package into a root of its own"],
  [/^\.\/runnel install/m, "changes the machine; e2e/bare-root.e2e.ts installs into a root of its own"],
  [/^docker /m, "needs Docker; scripts/docs/operate-files.test.ts reads what it is given"],
  [/^kubectl /m, "needs Kubernetes; scripts/docs/operate-files.test.ts reads the manifests"],
  [/^litestream /m, "needs Litestream; e2e/remote-backup.e2e.ts restores by it where it is"],
  [/^(\S+\/)?runnel dev$/m, "serves until it is ended; e2e/dev.e2e.ts starts it"],
  [/runnel serve/, "serves until it is ended; scripts/docs.test.ts holds its flags to the command line"],
  [/runs\.example\.com/, "asks an address that is an example"],
  [/^([A-Z]+=\d+ )?(npm |node scripts\/|sed )/m, "is typed in a clone: starts other tests, or this server's build"],
  [/^0 3 /m, "is a line of a crontab"],
  [/^ollama /m, "downloads a model"],
  [
    /^runnel embedder add /m,
    "adds a model that the reader has; server/runtime/retrieval/embeddings/own-models.test.ts does so",
  ],
  [/s3:\/\//, "needs an object store; e2e/remote-backup.e2e.ts has one"],
  [/postgres:\/\//, "needs a Postgres; e2e/cluster.e2e.ts has one"],
  [/^runnel projects move /m, "needs a cluster; e2e/projects-move.e2e.ts has one"],
  [/^runnel connections test /m, "asks a model server; server/cli/cli.test.ts has one"],
  [/^runnel models use /m, "needs an agent and its model server; e2e/quickstart.e2e.ts has both"],
  [/^npx /m, "downloads a program; e2e/doors.e2e.ts runs the inspector"],
  [/^(llm|aider) /m, "is a program of others; e2e/clients.e2e.ts runs it"],
  [/^(curl -sSO|pip install) http/m, "installs a client; e2e/quickstart.e2e.ts does so"],
  [/^export /m, "are the reader's own values; e2e/quickstart.e2e.ts types those of the README"],
];
const reasonOf = (code: string): string | undefined => untyped.find(([pattern]) => pattern.test(code))?.[1];

const blocks = writtenPages().flatMap(({ path, markdown }) =>
  [...markdown.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, code]) => ({ path, code: code! })),
);
const typed = Map.groupBy(
  blocks.filter(({ code }) => reasonOf(code) === undefined),
  ({ path }) => path,
);

test("most pages for operators have a tested command, and every reason belongs to a block", () => {
  expect(typed.size).toBeGreaterThan(10);
  const idle = untyped.filter(([pattern]) => !blocks.some(({ code }) => pattern.test(code)));
  expect(idle).toEqual([]);
});

let server: Runnel;
beforeAll(async () => {
  server = await startRunnel();
  const bin = join(server.folder, "bin");
  mkdirSync(bin);
  mkdirSync(join(server.folder, "backups"));
  symlinkSync(executable, join(bin, "runnel"));
  writeFileSync(join(server.folder, "ca.pem"), server.ca ?? "");
});
afterAll(() => server[Symbol.asyncDispose]());

/** Replaces the values of the examples by the reader's own. */
async function ofReader(code: string): Promise<string> {
  await server.command("projects", "create", "shop"); // The page before may have deleted it.
  const { body: key } = await server.post("/v1/api_keys", { name: "reader", scopes: ["read"] });
  // Things of one name are not exported.
  const name = `reader ${crypto.randomUUID()}`;
  const { body: agent } = await server.post("/v1/agents", { name, instructions: "", model: "test/echo" });
  const { body: run } = await server.post("/v1/runs?wait=60", { agent_id: agent.id, input: "Hello" });
  const { body: store } = await server.post("/v1/memory", { name, kind: "vector", scope: "user" });
  const entry = { text: "Ada drinks coffee.", scope_id: "ada" };
  const { body: fact } = await server.post(`/v1/memory/${store.id}/entries`, entry);
  const prices = { as_of: "2026-11-29", models: [{ id: "openai/gpt-9", input: 1, output: 2 }] };
  await Bun.write(join(server.folder, "prices.json"), JSON.stringify(prices));
  return code
    .replaceAll("https://example.com/prices.json", "prices.json") // Nothing is fetched from the network.
    .replaceAll("/var/lib/runnel", server.dataDir)
    .replaceAll("runnel-2026-11-22.db", "runnel-$(date +%F).db")
    .replaceAll("/backups/", `${server.folder}/backups/`)
    .replaceAll("/tmp/restored", `${server.folder}/restored`)
    .replaceAll("delete shop", "delete shop --yes") // There is no person to confirm.
    .replaceAll("sk-…", "sk-none")
    .replaceAll("key_01…", key.id)
    .replaceAll("agt_01…", agent.id)
    .replaceAll("run_01…", run.id)
    .replaceAll("mem_01…", store.id)
    .replaceAll("ment_01…", fact.id);
}

test.each([...typed.keys()])(
  "the commands of %s work",
  async (path) => {
    const code = await ofReader(
      typed
        .get(path)!
        .map(({ code }) => code)
        .join("\n"),
    );
    expect(code).not.toContain("…");
    const environment = {
      PATH: [join(server.folder, "bin"), dirname(process.execPath), process.env.PATH].join(delimiter),
      HOME: server.folder,
      RUNNEL_DATA_DIR: server.dataDir,
      RUNNEL_PASSWORD: "a rather long password",
      RUNNEL_MASTER_KEY: readFileSync(join(server.dataDir, "master.key"), "utf8"),
      RUNNEL_URL: server.url,
      RUNNEL_API_KEY: server.keys.test,
      CURL_CA_BUNDLE: join(server.folder, "ca.pem"),
    };
    const program = ["bash", "--noprofile", "--norc", "-euo", "pipefail", "-c", code];
    const { code: exit, stdout, stderr } = await runProgram(program, server.folder, environment, 170_000);
    expect({ path, exit, said: exit === 0 ? "" : stdout + stderr }).toEqual({ path, exit: 0, said: "" });
  },
  180_000,
);
