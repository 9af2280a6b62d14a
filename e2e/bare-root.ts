import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { executable } from "./harness.ts";

/** True if this process may create root file systems: only root can. */
export const canEnterRoots =
  process.getuid?.() === 0 && ["unshare", "chroot", "setpriv", "ldd"].every((name) => Bun.which(name));

/** True if overlays can be mounted over /etc, /usr and /var. */
export const canLayOver =
  canEnterRoots &&
  /\boverlay$/m.test(readFileSync("/proc/filesystems", "utf8")) &&
  Bun.which("systemd-sysusers") !== null;

/**
 * Starts a shell script as root on a system without a running systemd; its changes of the system are private, and are
 * gone when it ends.
 */
export function startOverSystem(script: string, args: readonly string[]) {
  const laid = `set -e
mount --make-rprivate /
mount -t tmpfs changes /mnt
for folder in etc usr var; do
  mkdir -p /mnt/$folder/upper /mnt/$folder/work
  mount -t overlay overlay -o lowerdir=/$folder,upperdir=/mnt/$folder/upper,workdir=/mnt/$folder/work /$folder
done
mount -t tmpfs run /run
${script}`;
  return Bun.spawn(["unshare", "--mount", "sh", "-c", laid, "sh", ...args], {
    env: { PATH: process.env.PATH! },
    cwd: "/",
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
}

/** Runs a shell script as `startOverSystem` does, and waits for its exit. */
export async function runOverSystem(script: string, args: readonly string[]) {
  const child = startOverSystem(script, args);
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}

interface Root {
  /** Path of the data directory inside the root. */
  dataDir: string;
  /** Copies the program and its user into a root that has only the libraries and empty folders. */
  lay(root: string): { uid: number; gid: number; program: string };
  /** Environment of every command. */
  env?: Record<string, string>;
}

const onMachine: Root = {
  dataDir: "/var/lib/runnel",
  lay(root) {
    const installed = Bun.spawnSync([executable, "install", "--root", root, "--json"]);
    if (installed.exitCode !== 0) throw new Error(`It was not installed: ${installed.stderr}`);
    const [, uid, gid] = /^runnel:[^:]*:(\d+):(\d+):/m.exec(readFileSync(join(root, "etc/passwd"), "utf8")) ?? [];
    return { uid: Number(uid), gid: Number(gid), program: "/usr/local/bin/runnel" };
  },
  env: { RUNNEL_DATA_DIR: "/var/lib/runnel", HOME: "/nonexistent" },
};

/**
 * Creates a root file system with the executable, its libraries and the given files only: no shell, no programs, no
 * other users. `enter` runs the executable in it as that user, with a read-only root.
 */
export function makeBareRoot({ dataDir, lay, env: always = {} }: Root = onMachine) {
  const folder = mkdtempSync(join(tmpdir(), "runnel-root-"));
  const root = join(folder, "root");
  for (const path of ["dev", "proc", "sys", "tmp", "etc", "usr/local/bin", dataDir])
    mkdirSync(join(root, path), { recursive: true });
  for (const path of libraries()) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    copyFileSync(path, join(root, path));
  }
  const { uid, gid, program } = lay(root);
  // A new volume starts with the image's content of that folder.
  Bun.spawnSync(["cp", "-a", join(root, dataDir), join(folder, "data")]);
  Bun.spawnSync(["chown", "-R", `${uid}:${gid}`, join(folder, "data")]);
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
exec setpriv --no-new-privs chroot --userspec=${uid}:${gid} ${root} ${program} "$@"
`,
  );

  const enter = (args: readonly string[], env: Record<string, string> = {}) =>
    Bun.spawn(["unshare", "--mount", "sh", script, ...args], {
      env: { PATH: process.env.PATH!, ...always, ...env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
  return {
    root,
    /** Path of the data directory outside the root. */
    data: join(folder, "data"),
    enter,
    /** Runs a command of the executable and waits for its exit. */
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

/** Returns the libraries that the loader maps beside the executable. */
function libraries(): string[] {
  const said = Bun.spawnSync(["ldd", executable]).stdout.toString();
  return [...said.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path]) => path!);
}
