import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { characterMapsFolder, packedCharacterMaps } from "../../lib/assets.ts";
import { type PackedFiles, packFiles, unpackFiles } from "../../lib/file-pack.ts";

/** Returns PDF.js's character maps in one compressed file. */
export function compressCharacterMaps(level: number): Uint8Array {
  const folder = characterMapsFolder();
  const names = readdirSync(folder).filter((name) => name.endsWith(".bcmap"));
  const files = names.sort().map((name) => [name, readFileSync(join(folder, name))] as const);
  return Bun.zstdCompressSync(packFiles(Object.fromEntries(files)), { level });
}

let compressed: Uint8Array | null = null;
let maps: PackedFiles | null = null;

/** Brings the character maps into memory, compressed: the jail opens no file later. */
export function loadCharacterMaps(): Uint8Array {
  const file = packedCharacterMaps();
  compressed ??= file === null ? compressCharacterMaps(1) : readFileSync(file);
  return compressed;
}

/**
 * Gives PDF.js a character map when a font asks for it: fonts of Chinese, Japanese and Korean text name the map of
 * their encoding instead of carrying it. It gives nothing else: text needs neither font programs nor decoders.
 */
export function openCharacterMaps() {
  const [encoded, shown] = [new Set<string>(), new Set<string>()];
  class Factory {
    async fetch({ kind, filename }: { kind: string; filename: string }): Promise<Uint8Array> {
      maps ??= unpackFiles(Bun.zstdDecompressSync(loadCharacterMaps()));
      const map = kind === "cMapUrl" && Object.hasOwn(maps, filename) ? maps[filename] : undefined;
      if (!map) throw new Error(`There is no ${filename}.`);
      (filename.endsWith("-UCS2.bcmap") ? shown : encoded).add(collectionOf(filename));
      // A copy, because PDF.js clones the buffer behind the bytes.
      return map.slice();
    }
  }
  return {
    Factory,
    /** True if a font's codes belong to one collection of characters, and the font itself to another. */
    isMixed: (): boolean => hasOther(shown, encoded) && hasOther(encoded, shown),
  };
}

const hasOther = (names: ReadonlySet<string>, others: ReadonlySet<string>): boolean =>
  [...names].some((name) => !others.has(name));

export type CharacterMaps = ReturnType<typeof openCharacterMaps>;

const collections: [name: string, maps: RegExp][] = [
  ["GB1", /^(Uni|Adobe-)?GB/],
  ["CNS1", /^(UniCNS|Adobe-CNS1|B5|CNS|ET|HK)/],
  ["Korea1", /^(UniKS|Adobe-Korea1|KSC)/],
];

const collectionOf = (map: string): string => collections.find(([, maps]) => maps.test(map))?.[0] ?? "Japan1";
