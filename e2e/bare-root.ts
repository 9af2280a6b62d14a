import { chownSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { executable } from "./harness.ts";

/** Root file systems can be made and entered by root alone. */
export const canEnterRoots = process.getuid?.() === 0 && ["unshare", "chroot", "ldd"].every((name) => Bun.which(name));

const dataDir = "/var/lib/runnel";

/**
 * A root file system that holds the executable's libraries and what it installs, and nothing else: no shell, no programs,
 * no users but its own. `enter` runs the executable in it as the user `runnel`, with a root that cannot be written to.
 */
export function makeBareRoot() {
  const folder = mkdtempSync(join(tmpdir(), "runnel-root-"));
  const root = join(folder, "root");
  for (const path of ["dev", "proc", "sys", "tmp", "etc", "usr/local/bin", dataDir])
    mkdirSync(join(root, path), { recursive: true });
  for (const path of libraries()) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    copyFileSync(path, join(root, path));
  }
  const installed = Bun.spawnSync([executable, "install", "--root", root, "--json"]);
  if (installed.exitCode !== 0) throw new Error(`It was not installed: ${installed.stderr}`);
  const [, uid, gid] = /^runnel:[^:]*:(\d+):(\d+):/m.exec(readFileSync(join(root, "etc/passwd"), "utf8")) ?? [];
  chownSync(join(root, dataDir), Number(uid), Number(gid));
  cpSync(join(root, dataDir), join(folder, "data"), { recursive: true });
  chownSync(join(folder, "data"), Number(uid), Number(gid));
  Bun.spawnSync(["chmod", "700", join(folder, "data")]);
  const script = join(folder, "enter.sh");
  writeFileSync(
    script,
    `set -e
mount --make-rprivate /
mount --bind ${root} ${root}
mount -t proc proc ${root}/proc
mount --rbind /dev ${root}/dev
mount --rbind /sys ${root}/sys
mount -t tmpfs tmp ${root}/tmp
mount --bind ${join(folder, "data")} ${root}${dataDir}
mount -o remount,bind,ro ${root}
exec chroot --userspec=${uid}:${gid} ${root} /usr/local/bin/runnel "$@"
`,
  );

  const enter = (args: readonly string[], env: Record<string, string> = {}) =>
    Bun.spawn(["unshare", "--mount", "sh", script, ...args], {
      env: { RUNNEL_DATA_DIR: dataDir, HOME: "/nonexistent", PATH: process.env.PATH!, ...env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
  return {
    root,
    /** The data directory, from outside. */
    data: join(folder, "data"),
    enter,
    /** Runs a command of the executable to its end. */
    async run(args: readonly string[], env?: Record<string, string>) {
      const child = enter(args, env);
      const [stdout, stderr, code] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited,
      ]);
      return { code, stdout, stderr };
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** What the loader maps besides the executable. */
function libraries(): string[] {
  const said = Bun.spawnSync(["ldd", executable]).stdout.toString();
  return [...said.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path]) => path!);
}
