import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inProject } from "../root.ts";
import { toolFolder } from "../tool-folder.ts";

/** A package in a lock. */
export interface LockedPackage {
  version: string;
  /** `sha512-` and its hash in Base64. */
  integrity: string;
}

/**
 * Returns the entry of an npm package in the project's lock, or in that of Bun's executables. Throws if neither has it.
 */
export function lockedPackage(name: string): LockedPackage {
  const ofBun = JSON.parse(readFileSync(inProject("scripts/bun/package-lock.json"), "utf8")) as {
    packages: Record<string, LockedPackage>;
  };
  const found = ofBun.packages[`node_modules/${name}`] ?? lockOfProject().get(name);
  if (!found) throw new Error(`${name} is in no lock.`);
  return found;
}

/** Returns all packages of `bun.lock` by name; of several versions the project's direct dependency. */
export function lockOfProject(): Map<string, LockedPackage> {
  const { packages } = Bun.JSONC.parse(readFileSync(inProject("bun.lock"), "utf8")) as {
    packages: Record<string, [id: string, ...rest: unknown[]]>;
  };
  return new Map(
    Object.entries(packages).map(([name, entry]) => [
      name,
      { version: entry[0].slice(entry[0].lastIndexOf("@") + 1), integrity: String(entry.at(-1)) },
    ]),
  );
}

/**
 * Returns the folder of a package for any platform, fetched by npm and unpacked only if it matches the lock, because
 * package managers skip other platforms' packages. Throws if unavailable.
 */
export async function unpackedPackage(name: string): Promise<string> {
  const { version, integrity } = lockedPackage(name);
  const folder = await toolFolder(`packages/${name.replace("/", "-")}-${version}`, async (cwd) => {
    mkdirSync(cwd, { recursive: true });
    const packed = await output(["npm", "pack", `${name}@${version}`, "--json", "--loglevel=error"], cwd);
    const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
    const archive = join(cwd, filename);
    const found = new Bun.CryptoHasher("sha512").update(readFileSync(archive)).digest("base64");
    if (`sha512-${found}` !== integrity) throw new Error(`${name} ${version} is not what its lock says.`);
    await output(["tar", "-xzf", archive], cwd);
    return true;
  });
  return join(folder!, "package");
}

async function output(command: string[], cwd: string): Promise<string> {
  const child = Bun.spawn(command, { cwd, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [said, complaint] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`\`${command.join(" ")}\` failed: ${complaint.trim()}`);
  return said;
}
