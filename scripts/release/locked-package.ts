import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inProject } from "../root.ts";
import { toolFolder } from "../tool-folder.ts";

/** A package as a lock names it. */
export interface Locked {
  version: string;
  /** `sha512-` and its hash in Base64. */
  integrity: string;
}

/** What the project's own lock says of a package of npm, or the lock of Bun's executables. Throws where neither has it. */
export function lockedPackage(name: string): Locked {
  const ofBun = JSON.parse(readFileSync(inProject("scripts/bun/package-lock.json"), "utf8")) as {
    packages: Record<string, Locked>;
  };
  const found = ofBun.packages[`node_modules/${name}`] ?? lockOfProject().get(name);
  if (!found) throw new Error(`${name} is in no lock.`);
  return found;
}

/** All packages of `bun.lock` by their names; of several versions the one that the project itself asks for. */
export function lockOfProject(): Map<string, Locked> {
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
 * The folder of a package for whatever platform, fetched by npm and unpacked only if it is what the lock says: no package
 * manager installs what is for another machine. Throws where it cannot be had.
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
