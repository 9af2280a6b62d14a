import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inProject } from "../root.ts";

const json = JSON.stringify({
  id: "run_1",
  output: "21 °C\nand sunny",
  done: true,
  cost: 0.5,
  error: null,
  calls: [{ id: "call_1" }, { id: "call_2", arguments: { city: "Oslo", days: [1, 2] } }],
});

/** Runs `field NAME` of the curl examples with only this program available. */
function field(program: string, name: string): { stdout: string; stderr: string; code: number } {
  const folder = mkdtempSync(join(tmpdir(), "runnel-field-"));
  symlinkSync(program, join(folder, program.split("/").at(-1)!));
  const { stdout, stderr, exitCode } = Bun.spawnSync(
    [Bun.which("bash")!, "-c", '. "$0" && field "$1"', inProject("server/docs/files/runnel.sh"), name],
    { env: { PATH: folder }, stdin: Buffer.from(json) },
  );
  rmSync(folder, { recursive: true });
  return { stdout: stdout.toString(), stderr: stderr.toString(), code: exitCode };
}

const pythonPath = (): string | null => {
  const python = Bun.which("python3");
  return python && Bun.spawnSync([python, "-c", "import sys; print(sys.executable)"]).stdout.toString().trim();
};

describe.each(["node", "python3"])("field, with %s alone, prints", (name) => {
  const found = name === "python3" ? pythonPath() : Bun.which(name);
  const program = found as string;

  test.skipIf(!found).each([
    ["id", "run_1"],
    ["output", "21 °C\nand sunny"],
    ["done", "true"],
    ["cost", "0.5"],
    ["error", "null"],
    ["calls.0.id", "call_1"],
    ["calls.1.arguments", '{"city":"Oslo","days":[1,2]}'],
  ])("%s", (path, printed) => {
    expect(field(program, path)).toEqual({ stdout: `${printed}\n`, stderr: "", code: 0 });
  });

  test.skipIf(!found).each(["nothing", "calls.2", "id.deeper", "error.message"])("no %s, and fails", (path) => {
    expect(field(program, path)).toEqual({ stdout: "", stderr: `There is no field ${path}.\n`, code: 1 });
  });
});

test("api and events call this machine directly, whatever proxy the environment names", async () => {
  let visits = 0;
  using proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => {
      visits++;
      return new Response("{}");
    },
  });
  using target = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response('{"id":"run_1"}\n') });
  const names = ["http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"];
  const child = Bun.spawn(
    [Bun.which("bash")!, "-uc", '. "$0" && api GET /runs && events run_1', inProject("server/docs/files/runnel.sh")],
    {
      env: {
        PATH: process.env.PATH!,
        RUNNEL_URL: target.url.origin,
        RUNNEL_API_KEY: "sk_test_x",
        ...Object.fromEntries(names.map((name) => [name, proxy.url.origin])),
      },
      stdout: "pipe",
      stderr: "pipe",
    },
  );
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  expect({ stdout, stderr, code: await child.exited, visits }).toEqual({
    stdout: '{"id":"run_1"}\n{"id":"run_1"}\n',
    stderr: "",
    code: 0,
    visits: 0,
  });
});
