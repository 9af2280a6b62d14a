import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { npmLauncher, npmName, npmNameOf, npmPlatform } from "./npm.ts";
import { isOwn, targets } from "./targets.ts";

const version = "1.2.3";
const own = targets.find(isOwn);
const node = Bun.which("node");
// Ends with the code of `exit`, prints its other arguments and its input, and answers to a signal.
const program = `#!/bin/sh
case "$1" in
  exit) exit "$2" ;;
  wait) trap 'echo asked to end; exit 7' TERM; echo waiting; while :; do sleep 0.02; done ;;
  die) kill -s KILL $$ ;;
esac
printf '%s|' "$@"
cat
`;

const manifestOf = async (archive: Uint8Array) =>
  JSON.parse(await (await new Bun.Archive(archive).files()).get("package/package.json")!.text());

test("each platform has a package that npm installs only there, and the launcher names all of them", async () => {
  const manifests = await Promise.all(
    targets.map(async (target) => await manifestOf(await npmPlatform(target, version, Buffer.from("x"), []))),
  );
  const places = Object.fromEntries(
    manifests.map(({ name, os, cpu, libc }) => [name, [os, cpu, libc].flat().join(" ")]),
  );
  expect(places).toMatchObject({
    "runnel-server-linux-x64": "linux x64 glibc",
    "runnel-server-linux-arm64-musl": "linux arm64 musl",
    "runnel-server-macos-arm64": "darwin arm64 ",
    "runnel-server-windows-x64": "win32 x64 ",
  });
  const launcher = await manifestOf(npmLauncher(version));
  expect(manifests.map(({ name }) => name)).toEqual(launcher.platforms.map((each: string) => `${npmName}-${each}`));
  // Names that npm would look up in its registry could be those of others.
  expect(Object.keys(launcher).filter((key) => /dependencies/i.test(key))).toEqual([]);
});

test("the packages have the same bytes whenever they are made", async () => {
  const made = () => npmPlatform(targets[0]!, version, Buffer.from(program), [["LICENSE", Buffer.from("Free.")]]);
  expect([npmLauncher(version), await made()]).toEqual([npmLauncher(version), await made()]);
});

describe.skipIf(!own || !node || process.platform === "win32")("the launcher", () => {
  let folder: string;
  const modules = () => join(folder, "node_modules");
  const unpack = (name: string, archive: Uint8Array) => {
    const place = join(modules(), name);
    mkdirSync(place, { recursive: true });
    Bun.spawnSync(["tar", "-xz", "--strip-components=1", "-C", place], { stdin: archive });
  };
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "runnel-npm-"));
    unpack(npmName, npmLauncher(version));
    unpack(npmNameOf(own!), await npmPlatform(own!, version, Buffer.from(program), []));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const start = (args: string[], stdin?: string, before: string[] = []) =>
    Bun.spawn([node!, ...before, join(modules(), npmName, "bin/runnel.cjs"), ...args], {
      cwd: folder,
      stdin: stdin === undefined ? "ignore" : Buffer.from(stdin),
      stdout: "pipe",
      stderr: "pipe",
    });
  const run = async (...given: Parameters<typeof start>) => {
    const child = start(...given);
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { code: await child.exited, stdout, stderr };
  };

  test("passes on arguments, input, output and exit code", async () => {
    expect(await run(["a b", "--c=*"], "typed")).toEqual({ code: 0, stdout: "a b|--c=*|typed", stderr: "" });
    expect(await run(["exit", "78"])).toEqual({ code: 78, stdout: "", stderr: "" });
  });

  test("passes on a signal and waits for the program, and dies of the signal that killed it", async () => {
    const child = start(["wait"]);
    const reader = child.stdout.getReader();
    expect(Buffer.from((await reader.read()).value!).toString()).toBe("waiting\n");
    child.kill("SIGTERM");
    expect(Buffer.from((await reader.read()).value!).toString()).toBe("asked to end\n");
    expect(await child.exited).toBe(7);
    const dying = start(["die"]);
    await dying.exited;
    expect(dying.signalCode).toBe("SIGKILL");
  });

  test("says which package is missing, and which platforms there are", async () => {
    const preload = join(folder, "elsewhere.cjs");
    const on = async (platform: string, arch: string) => {
      const both = `for (const [name, value] of Object.entries(${JSON.stringify({ platform, arch })}))
        Object.defineProperty(process, name, { value });`;
      writeFileSync(preload, both);
      return await run(["version"], undefined, ["--require", preload]);
    };
    const foreign = await on("darwin", process.arch === "x64" ? "arm64" : "x64");
    expect({ code: foreign.code, stdout: foreign.stdout }).toEqual({ code: 1, stdout: "" });
    expect(foreign.stderr).toMatch(
      /^The package runnel-server-macos-\w+ is missing, as in a folder copied from another kind of machine\./,
    );
    expect(foreign.stderr).toContain(`${version} beside runnel-server.`);
    const unknown = await on("freebsd", "x64");
    expect(unknown.code).toBe(1);
    expect(unknown.stderr).toMatch(/no executable for freebsd on x64.*linux-arm64-musl/);
  });
});
