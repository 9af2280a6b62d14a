import { operateFilesOf } from "./operate-files.ts";
import type { Target } from "./targets.ts";

/** Returns the README beside the executable in an archive. */
export function readmeOf(target: Target, version: string, lean: boolean): string {
  const { name } = target;
  const windows = name.startsWith("windows");
  const run = windows ? "runnel.exe" : "./runnel";
  return `# runnel ${version} for ${name}

A self-hosted agent runtime in one executable.${lean ? " This build is lean: it has neither Python nor an embedding model." : ""}

\`\`\`sh
${run} dev
\`\`\`

It listens on http://127.0.0.1:8440 for this machine alone, keeps its data in \`runnel-data\`, creates a test key and an agent,
and prints a link that signs you in to the dashboard. For other people and machines, start \`${run} serve\`: it has HTTPS.
The documentation is at http://127.0.0.1:8440/docs, without a key and offline. \`${run} docs\` lists its pages, and
\`${run} doctor\` looks at the machine.
${name.startsWith("linux") ? service : ""}${operateFiles(target, run)}${needs(name)}
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

/** Lists the operators' files, each with the page that explains it. */
function operateFiles(target: Target, run: string): string {
  const here = new Set(operateFilesOf(target));
  const lines = pages
    .filter(({ files }) => files.every((file) => here.has(file)))
    .map(
      ({ name, use, files }) => `- ${use}: ${files.map((file) => `\`${file}\``).join(", ")} (\`${run} docs ${name}\`)`,
    );
  return `\nFiles for operators, each with its page:\n\n${lines.join("\n")}\n`;
}

const pages = [
  { name: "operate/service", use: "systemd", files: ["runnel.service"] },
  { name: "operate/container", use: "containers", files: ["Dockerfile", "compose.yaml", "litestream.yml"] },
  { name: "operate/cluster-kubernetes", use: "clusters", files: ["compose-cluster.yaml", "kubernetes.yaml"] },
  {
    name: "operate/monitoring",
    use: "Prometheus and Grafana",
    files: ["prometheus.yml", "runnel-alerts.yml", "runnel-grafana.json"],
  },
];

function needs(name: string): string {
  const [system, cpu, musl] = name.split("-");
  if (system !== "linux")
    return "\nIt was built, but not run, before this release. Code tools run without the full jail, and Python not at all.\n";
  const libraries = musl
    ? "It needs musl, libstdc++ and libgcc: `apk add libstdc++`."
    : "It needs glibc and a kernel from 5.13 on for the full jail of code.";
  const tried = musl ? triedMusl[cpu!] : triedGlibc[cpu!];
  return `\n${libraries} It was ${tried} before this release.\n`;
}

const triedGlibc: Record<string, string> = { x64: "tested", arm64: "started under an emulator" };
const triedMusl: Record<string, string> = { x64: "started", arm64: "built, but not run," };
