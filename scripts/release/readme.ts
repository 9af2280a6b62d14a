import type { Target } from "./targets.ts";

/** What stands beside the executable in an archive. */
export function readmeOf({ name }: Target, version: string, lean: boolean): string {
  const windows = name.startsWith("windows");
  const run = windows ? "runnel.exe" : "./runnel";
  return `# runnel ${version} for ${name}

A self-hosted agent runtime in one executable.${lean ? " This build is lean: it has neither Python nor an embedding model." : ""}

\`\`\`sh
${run} serve
\`\`\`

It listens on https://127.0.0.1:8443, keeps its data in \`runnel-data\`, and prints a link that makes your account. The
documentation is at https://127.0.0.1:8443/docs, without a key and offline. \`${run} docs\` lists its pages, and
\`${run} doctor\` looks at the machine.
${name.startsWith("linux") ? service : ""}${needs(name)}
The same directory of downloads has \`SHA256SUMS\`. \`sbom.cdx.json\` lists what the executable is made of (CycloneDX),
\`NOTICES.txt\` has the licenses of all of it, and \`LICENSE\` is runnel's own: Apache-2.0.
`;
}

const service = `
To run it as a service of systemd, by root:

\`\`\`sh
./runnel install
systemctl enable --now runnel
\`\`\`
`;

function needs(name: string): string {
  if (name.endsWith("-musl"))
    return "\nIt needs musl, libstdc++ and libgcc: `apk add libstdc++`. It was built, but not run, before this release.\n";
  if (name === "linux-x64")
    return "\nIt needs glibc and a kernel from 5.13 on for the full jail of code. It was tested before this release.\n";
  if (name === "linux-arm64")
    return "\nIt needs glibc and a kernel from 5.13 on for the full jail of code. It was started under an emulator before this release.\n";
  if (name.startsWith("macos"))
    return "\nIt was built, but not run, before this release. Code tools run without the full jail, and Python not at all.\n";
  return "\nIt was built, but not run, before this release. Code tools run without the full jail, and Python not at all.\n";
}
