import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { npmLauncher, npmPlatform } from "../scripts/release/npm.ts";
import { isOwn, targets } from "../scripts/release/targets.ts";
import { build } from "../server/lib/build-info.ts";
import { createAgent, runToEnd } from "./fixtures.ts";
import { executable, runProgram, startRunnel } from "./harness.ts";

const own = targets.find(isOwn);

describe.skipIf(!own || Bun.which("npm") === null)("the npm packages", () => {
  let folder: string;
  let env: Record<string, string>;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "runnel-npm-"));
    // An own cache and an address where no registry is: npm has the two files only.
    const settings = { npm_config_cache: join(folder, "cache"), npm_config_registry: "http://127.0.0.1:9" };
    env = { PATH: process.env.PATH!, HOME: folder, npm_config_update_notifier: "false", ...settings };
    writeFileSync(join(folder, "launcher.tgz"), npmLauncher(build.version));
    const program = await npmPlatform(own!, build.version, readFileSync(executable), [], 1);
    writeFileSync(join(folder, "program.tgz"), program);
  }, 120_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  test("are installed without a network, and run and serve by the command that they bring", async () => {
    const npm = ["npm", "install", "--offline", "--no-audit", "--no-fund", "./launcher.tgz", "./program.tgz"];
    const installed = await runProgram(npm, folder, env);
    expect({ code: installed.code, stderr: installed.stderr }).toMatchObject({ code: 0 });
    const said = await runProgram(["npx", "--no-install", "runnel", "version"], folder, env);
    expect({ code: said.code, stdout: said.stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(build.version),
    });
    const wrong = await runProgram(["npx", "--no-install", "runnel", "nonsense"], folder, env);
    expect(wrong.code).toBe(2);

    await using server = await startRunnel({ program: join(folder, "node_modules/.bin/runnel") });
    const agent = await createAgent(server, "test/echo");
    expect(await runToEnd(server, agent, { input: "From npm." })).toMatchObject({ output: "From npm." });
    expect(await server.stop()).toBe(0);
    expect(await server.command("health")).toMatchObject({ code: 1 });
  }, 180_000);
});
