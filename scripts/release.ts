import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { build } from "../server/lib/build-info.ts";
import { platformOf } from "../server/lib/platform.ts";
import { buildContents, commit, compile, largeAssets } from "./build.ts";
import { licensesText, readNotices } from "./docs/licenses.ts";
import { type TarEntry, tarOf } from "./gzipped-tar.ts";
import { debianArchitecture, debianData, debianFiles, debianPackage, debianVersion } from "./release/debian.ts";
import { requireFormat } from "./release/executable-format.ts";
import { imageOf } from "./release/image.ts";
import { librariesOf } from "./release/libraries.ts";
import { lockOfProject, unpackedPackage } from "./release/locked-package.ts";
import { muslLibrary } from "./release/musl-library.ts";
import { npmLauncher, npmName, npmNameOf, npmPlatform } from "./release/npm.ts";
import { operateFilesOf } from "./release/operate-files.ts";
import { readmeOf } from "./release/readme.ts";
import { sbomOf } from "./release/sbom.ts";
import { startArchive } from "./release/start-archive.ts";
import { isOwn, type Target, targets } from "./release/targets.ts";
import { createXz } from "./release/xz.ts";
import { zipOf } from "./release/zip.ts";
import { inProject, root } from "./root.ts";

// Creates dist/release: archives and packages for each platform, and their checksums. `--only NAME` does so for one of
// them, `--lean` makes archives without Python and embedding models, and `--twice` builds this machine's executable again
// and compares.

const { values } = parseArgs({
  options: { only: { type: "string" }, lean: { type: "boolean" }, twice: { type: "boolean" } },
});
const lean = values.lean === true;
const wanted = targets.filter(({ name }) => values.only === undefined || name === values.only);
if (wanted.length === 0) throw new Error(`There is no "${values.only}" among ${targets.map(({ name }) => name)}.`);

const date = dateOfCommit();
const folder = inProject("dist/release");
if (values.only === undefined) rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const started = performance.now();
await buildContents();
const notices = await readNotices();
const xz = createXz();
let shared: Uint8Array[] | undefined;
const leftOut: string[] = [];
/** A line for each archive. */
const starts: string[] = [];
// Each holds its executable in memory, several times.
const packing: Promise<void>[] = [];
for (const target of wanted) {
  const isLeftOut = (error: unknown): void => {
    leftOut.push(`${target.name}: ${error instanceof Error ? error.message : error}`);
    console.error(`LEFT OUT: ${leftOut.at(-1)}`);
  };
  try {
    const executable = await executableOf(target);
    shared ??= largeAssets();
    if (packing.length > availableParallelism()) await packing.shift();
    packing.push(pack(target, executable, shared).catch(isLeftOut));
  } catch (error) {
    isLeftOut(error);
  }
}
await Promise.all(packing);
if (!lean) write(`${npmName}-${build.version}.tgz`, npmLauncher(build.version));
writeSums();
console.log(`${starts.sort().join("\n")}\nMade in ${minutes()}.`);
if (values.twice) await buildAgain();
if (leftOut.length > 0) process.exit(1);

/** Builds the executable for a platform and returns its path. Throws if a platform-specific part is unavailable. */
async function executableOf(target: Target): Promise<string> {
  const windows = target.name.startsWith("windows");
  const outfile = join(folder, `${target.name}-build`, windows ? "runnel.exe" : "runnel");
  mkdirSync(join(outfile, ".."), { recursive: true });
  const [runtime, vec] = await Promise.all([unpackedPackage(target.runtime), unpackedPackage(target.vec)]);
  const platform = windows ? "win32" : target.name.startsWith("macos") ? "darwin" : "linux";
  const library = join(vec, platformOf(platform, "").vec.file);
  return await compile({
    outfile,
    lean,
    date,
    ...(!isOwn(target) && { target: target.bun, runtime: join(runtime, "bin", windows ? "bun.exe" : "bun") }),
    vec: target.name.endsWith("-musl") ? withMusl(library, join(outfile, "..")) : library,
  });
}

/** Writes the library as musl can load it into a folder, and returns its path. */
function withMusl(library: string, place: string): string {
  const path = join(place, basename(library));
  writeFileSync(path, muslLibrary(readFileSync(library)));
  return path;
}

/** Writes the archive and the packages for a platform, starts what the archive has, and deletes the executable. */
async function pack(target: Target, executable: string, parts: readonly Uint8Array[]): Promise<void> {
  const name = `runnel-${build.version}-${target.name}${lean ? "-lean" : ""}`;
  const program = readFileSync(executable);
  requireFormat(target, program);
  const sha256 = new Bun.CryptoHasher("sha256").update(program).digest("hex");
  const sbom = sbomOf(
    { ...build, commit: commit(), date, target: target.name, sha256, lean },
    notices,
    lockOfProject(),
  );
  const documents: TarEntry[] = [
    ["NOTICES.txt", Buffer.from(licensesText(notices))],
    ["sbom.cdx.json", Buffer.from(`${JSON.stringify(sbom, null, 1)}\n`)],
  ];
  const files: TarEntry[] = [
    [executable.endsWith(".exe") ? "runnel.exe" : "runnel", program, 0o755],
    ["LICENSE", readFileSync(inProject("server/LICENSE"))],
    ["README.md", Buffer.from(readmeOf(target, build.version, lean))],
    ...documents,
    ...operateFilesOf(target).map((file): TarEntry => [file, readFileSync(inProject("server/docs/files", file))]),
  ];
  const inFolder = files.map(([path, ...rest]): TarEntry => [`${name}/${path}`, ...rest]);
  // The executable is a part too, because other packages have it with other files around it.
  const compressed = (tar: Buffer) => xz(tar, [program, ...parts]);
  write(
    `${name}.${target.archive}`,
    target.archive === "zip" ? await zipOf(inFolder) : await compressed(tarOf(inFolder)),
  );
  starts.push(await startArchive(target, join(folder, `${name}.${target.archive}`)));
  const architecture = debianArchitecture(target);
  if (architecture && !lean) {
    const inPackage = debianFiles(program, documents);
    const data = ["data.tar.xz", await compressed(debianData(inPackage))] as const;
    const made = debianPackage({ version: build.version, architecture, files: inPackage, data });
    write(`runnel_${debianVersion(build.version)}_${architecture}.deb`, made);
  }
  const licence: TarEntry = ["LICENSE", readFileSync(inProject("server/LICENSE"))];
  if (isOwn(target) && process.platform === "linux" && !lean) {
    const { libraries, documents: licences } = librariesOf(executable);
    const content = { program, libraries, documents: [licence, ...documents, ...licences] };
    const image = imageOf({ version: build.version, created: date, ...content });
    write(`${name}-image.tar.xz`, await compressed(image));
  }
  if (!lean) {
    write(
      `${npmNameOf(target)}-${build.version}.tgz`,
      await npmPlatform(target, build.version, program, [licence, ...documents]),
    );
  }
  rmSync(join(executable, ".."), { recursive: true });
}

function write(name: string, bytes: Uint8Array): void {
  writeFileSync(join(folder, name), bytes);
  console.log(`${name}: ${(bytes.length / 1e6).toFixed(1)} MB, after ${minutes()}`);
}

function minutes(): string {
  return `${((performance.now() - started) / 60_000).toFixed(1)} minutes`;
}

/** Writes the file that `sha256sum -c SHA256SUMS` checks. */
function writeSums(): void {
  const names = [...new Bun.Glob("runnel[-_]*.{tar.xz,zip,deb,tgz}").scanSync(folder)].sort();
  const lines = names.map((name) => {
    const sum = new Bun.CryptoHasher("sha256").update(readFileSync(join(folder, name))).digest("hex");
    return `${sum}  ${name}\n`;
  });
  writeFileSync(join(folder, "SHA256SUMS"), lines.join(""));
}

/** Checks that a clean build of the same commit has the same bytes. */
async function buildAgain(): Promise<void> {
  const own = targets.find(isOwn);
  if (!own) throw new Error("No archive is for this machine.");
  // With the same name, because it is part of the executable.
  const [first, second] = [inProject("dist/twice-1/runnel"), inProject("dist/twice-2/runnel")];
  for (const outfile of [first, second]) {
    for (const made of ["python", "embedding", "dashboard", "docs", "clients"])
      rmSync(inProject("dist", made), { recursive: true, force: true });
    await buildContents();
    mkdirSync(join(outfile, ".."), { recursive: true });
    await compile({ outfile, lean, date });
  }
  const [one, other] = [readFileSync(first), readFileSync(second)];
  const differing =
    one.length === other.length ? one.reduce((sum, byte, at) => sum + (byte === other[at] ? 0 : 1), 0) : null;
  for (const file of [first, second]) rmSync(join(file, ".."), { recursive: true });
  if (differing === 0) console.log("Built twice: the same bytes.");
  else
    console.log(`Built twice: ${differing ?? "another number of"} bytes differ (${one.length} and ${other.length}).`);
}

function dateOfCommit(): string {
  const { stdout } = Bun.spawnSync(["git", "show", "-s", "--format=%ct"], { cwd: root });
  return new Date(Number(stdout.toString().trim()) * 1000).toISOString();
}
