import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { inProject } from "../root.ts";
import type { CorpusPackage } from "./packages.ts";

/** Folder of everything that is fetched, and of what references read. */
export const folder = inProject(".tools/corpus");

const python = process.env.PYTHON ?? "python3";

/**
 * Saves the package's archive into a folder, by the registry's own client, which knows the user's registries. Returns
 * false if it cannot.
 */
const clients: Record<CorpusPackage["registry"], (item: CorpusPackage, into: string) => Promise<boolean>> = {
  npm: ({ name, version }, into) => runs(["npm", "pack", ...quickly, `${name}@${version}`, "--pack-destination", into]),
  pypi: ({ name, version }, into) => runs([python, join(import.meta.dir, "pip-sdist.py"), `${name}==${version}`, into]),
  maven: ({ name, version }, into) =>
    runs(["mvn", "-q", "-B", mavenCopy, `-Dartifact=${name}:${version}:jar:tests`, `-DoutputDirectory=${into}`]),
  debian: async ({ name }, into) => {
    const options = await debianSources();
    if (options === null) return false;
    return runs(["apt-get", ...options, "source", "--download-only", "--tar-only", "-qq", name], into);
  },
};

/** Without a network, npm waits a minute for each package otherwise. */
const quickly = ["--silent", "--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=2000"];

const mavenCopy = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";

/** Returns the path of the package's archive, fetched if missing; null if no registry gives exactly this archive. */
export async function fetchPackage(item: CorpusPackage): Promise<string | null> {
  const path = join(
    folder,
    "archives",
    `${item.registry}-${item.name.replace(/\W+/g, "-")}-${item.sha256.slice(0, 12)}`,
  );
  if (existsSync(path)) return path;
  mkdirSync(join(folder, "archives"), { recursive: true });
  const into = mkdtempSync(join(folder, "fetch-"));
  try {
    if (!(await clients[item.registry](item, into))) return null;
    const archives = readdirSync(into).filter((name) => /\.(tgz|tar\.\w+|zip|jar)$/.test(name));
    // Another release of Debian has another version.
    const found = archives.find((name) => digestOf(readFileSync(join(into, name))) === item.sha256);
    if (found) renameSync(join(into, found), path);
    return found ? path : null;
  } finally {
    rmSync(into, { recursive: true, force: true });
  }
}

export const digestOf = (bytes: Uint8Array): string => new Bun.CryptoHasher("sha256").update(bytes).digest("hex");

/** Returns the options of apt-get by which it knows the sources of the machine's own packages; null without apt. */
let sources: Promise<string[] | null> | undefined;
const debianSources = (): Promise<string[] | null> => {
  sources ??= listSources();
  return sources;
};

async function listSources(): Promise<string[] | null> {
  const system = "/etc/apt";
  if (!existsSync(system)) return null;
  const own = join(folder, "apt");
  for (const part of ["lists/partial", "cache/archives/partial", "sources"])
    mkdirSync(join(own, part), { recursive: true });
  const lists = existsSync(join(system, "sources.list.d")) ? readdirSync(join(system, "sources.list.d")) : [];
  const paths = ["sources.list", ...lists.map((name) => join("sources.list.d", name))];
  for (const [at, path] of paths.entries()) {
    if (!existsSync(join(system, path))) continue;
    const text = readFileSync(join(system, path), "utf8");
    const asSource = text.replace(/^Types:.*$/gm, "Types: deb-src").replace(/^deb(?=\s)/gm, "deb-src");
    writeFileSync(join(own, "sources", `${at}${path.endsWith(".sources") ? ".sources" : ".list"}`), asSource);
  }
  const options = {
    "Dir::Etc::sourcelist": "/dev/null",
    "Dir::Etc::sourceparts": join(own, "sources"),
    "Dir::State::lists": join(own, "lists"),
    "Dir::Cache": join(own, "cache"),
  };
  const flags = Object.entries(options).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  // One source among several may fail, and the others still serve.
  await runs(["apt-get", ...flags, "update", "-qq"]);
  return flags;
}

/** Runs a client to its end. Returns false if it is not there, or fails. */
async function runs(command: string[], cwd = folder): Promise<boolean> {
  if (!Bun.which(command[0]!)) return false;
  const child = Bun.spawn(command, { cwd, stdin: "ignore", stdout: "ignore", stderr: "ignore", timeout: 600_000 });
  return (await child.exited) === 0;
}
