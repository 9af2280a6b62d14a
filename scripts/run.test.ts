import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inProject } from "./root.ts";

const version = JSON.parse(readFileSync(inProject("package.json"), "utf8")).config.bun as string;
const names = Object.keys(JSON.parse(readFileSync(inProject("scripts/bun/package.json"), "utf8")).optionalDependencies);

test("the lock of Bun has a SHA-512 for every platform of the pinned version, and no registry's address", () => {
  const text = readFileSync(inProject("scripts/bun/package-lock.json"), "utf8");
  expect(text).not.toContain("resolved");
  const packages = JSON.parse(text).packages as Record<string, { version: string; integrity: string }>;
  expect(Object.keys(packages).sort()).toEqual(["", ...names.map((name) => `node_modules/${name}`)].sort());
  for (const name of names)
    expect(packages[`node_modules/${name}`]).toMatchObject({
      version,
      integrity: expect.stringMatching(/^sha512-[A-Za-z0-9+/]{86}==$/),
    });
});

/** Creates a package as a registry serves it, with an executable that writes a file when it is started. */
function forged(folder: string, name: string, mark: string): { archive: Uint8Array<ArrayBuffer>; integrity: string } {
  const at = join(folder, name.replace("/", "-"));
  const bin = join(at, "package/bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(at, "package/package.json"), JSON.stringify({ name, version }));
  const program = `#!/bin/sh\ntouch '${mark}'\necho ${version}\n`;
  for (const exe of ["bun", "bun.exe"]) {
    writeFileSync(join(bin, exe), program);
    chmodSync(join(bin, exe), 0o755);
  }
  const { stdout } = Bun.spawnSync(["tar", "-cz", "-C", at, "package"]);
  const archive = new Uint8Array(stdout);
  return { archive, integrity: `sha512-${createHash("sha512").update(archive).digest("base64")}` };
}

test.skipIf(process.platform === "win32")(
  "a Bun other than the pinned one is never started, whatever a registry returns",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "runnel-run-"));
    const mark = join(folder, "started");
    try {
      const packages = new Map(["bun", ...names].map((name) => [name, forged(folder, name, mark)]));
      let archives = 0;
      using registry = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        fetch({ url }) {
          const { origin, pathname } = new URL(url);
          const path = decodeURIComponent(pathname).slice(1);
          const name = path.replace(/\.tgz$/, "");
          const { archive, integrity } = packages.get(name) ?? {};
          if (!archive) return new Response(null, { status: 404 });
          if (path.endsWith(".tgz")) {
            archives++;
            return new Response(archive);
          }
          const dist = { tarball: `${origin}/${name}.tgz`, integrity };
          const own =
            name === "bun" ? { optionalDependencies: Object.fromEntries(names.map((each) => [each, version])) } : {};
          return Response.json({
            name,
            "dist-tags": { latest: version },
            versions: { [version]: { name, version, dist, ...own } },
          });
        },
      });
      const project = join(folder, "project");
      mkdirSync(join(project, "scripts"), { recursive: true });
      for (const name of ["package.json", "bun.lock", "scripts/run.mjs", "scripts/kinds.mjs", "scripts/bun"])
        cpSync(inProject(name), join(project, name), { recursive: true });
      const child = Bun.spawn(["node", join(project, "scripts/run.mjs"), "--version"], {
        env: {
          PATH: process.env.PATH,
          HOME: folder,
          npm_config_registry: registry.url.href,
          npm_config_cache: join(folder, "cache"),
          npm_config_fetch_retries: "0",
        },
        stdout: "pipe",
        stderr: "pipe",
      });
      const [code, said] = await Promise.all([child.exited, new Response(child.stderr).text()]);
      expect({ code, started: existsSync(mark), said }).toMatchObject({ code: 1, started: false });
      expect(existsSync(join(project, ".tools", `bun-${version}`))).toBe(false);
      expect(archives).toBeLessThanOrEqual(names.length);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  60_000,
);
