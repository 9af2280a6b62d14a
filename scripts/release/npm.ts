import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { gzippedTar, type TarEntry, tarOf } from "../gzipped-tar.ts";
import { inProject } from "../root.ts";
import { type Target, targets } from "./targets.ts";

/** The npm package with the launcher: `runnel` is unrelated software there. */
export const npmName = "runnel-server";

/** Returns the name of the npm package with the executable for a platform. */
export const npmNameOf = ({ name }: Pick<Target, "name">): string => `${npmName}-${name}`;

const about = (version: string) => ({
  version,
  description: "A self-hosted agent runtime in one executable.",
  license: "Apache-2.0",
});

const manifest = (content: object): TarEntry => [
  "package/package.json",
  Buffer.from(`${JSON.stringify(content, null, 2)}\n`),
];

/**
 * Returns the package that starts the executable of the package beside it. It depends on none: npm would look for the
 * other platforms in its registry, where these names belong to no one yet.
 */
export function npmLauncher(version: string): Uint8Array {
  return gzippedTar([
    manifest({
      name: npmName,
      ...about(version),
      // By the package's own name too: `npx` of the short one would fetch a package of others where this one is missing.
      bin: { [npmName]: "bin/runnel.cjs", runnel: "bin/runnel.cjs" },
      engines: { node: ">=20" },
      platforms: targets.map(({ name }) => name),
    }),
    ["package/LICENSE", readFileSync(inProject("server/LICENSE"))],
    ["package/README.md", Buffer.from(readmeOf(version))],
    ["package/bin/runnel.cjs", readFileSync(inProject("scripts/release/npm-launcher.cjs")), 0o755],
  ]);
}

/**
 * Returns the package with the executable for a platform, beside the `documents`. A lower `level` of gzip is faster.
 */
export async function npmPlatform(
  target: Pick<Target, "name">,
  version: string,
  program: Uint8Array,
  documents: readonly TarEntry[],
  level = 6,
): Promise<Uint8Array> {
  const [system, cpu, musl] = target.name.split("-");
  const files: TarEntry[] = [
    manifest({
      name: npmNameOf(target),
      ...about(version),
      os: [{ macos: "darwin", windows: "win32" }[system!] ?? system],
      cpu: [cpu],
      ...(system === "linux" && { libc: [musl ?? "glibc"] }),
      preferUnplugged: true, // A file inside an archive cannot be run.
    }),
    ...documents.map(([path, content]): TarEntry => [`package/${path}`, content]),
    [`package/bin/runnel${system === "windows" ? ".exe" : ""}`, program, 0o755],
  ];
  return await promisify(gzip)(tarOf(files), { level });
}

const readmeOf = (version: string): string => `# runnel

A self-hosted agent runtime in one executable. The executable for each platform is in a package of its own. The packages
are files of a release, and not on npm's registry yet: install this one with the one for your platform.

\`\`\`sh
npm install ./${npmName}-${version}.tgz ./${npmName}-linux-x64-${version}.tgz
npx runnel-server dev
\`\`\`

It listens on http://127.0.0.1:8440 for this machine alone, keeps its data in \`runnel-data\`, creates a test key and an agent,
and prints a link that signs you in to the dashboard. For other people and machines, start \`npx runnel-server serve\`:
it has HTTPS. The documentation is at http://127.0.0.1:8440/docs, without a key and offline.
`;
