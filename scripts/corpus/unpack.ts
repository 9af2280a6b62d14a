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
import { dirname, join } from "node:path";
import { unzipSync } from "fflate";
import { folder } from "./fetch.ts";
import { formatOfName } from "./formats.ts";
import type { CorpusPackage } from "./packages.ts";

/** Unpacks the documents of a package's archive once. Returns the folder that holds them. */
export async function unpack(item: CorpusPackage, archive: string): Promise<string> {
  const into = join(folder, "files", nameOf(item));
  if (existsSync(into)) return into;
  const whole = mkdtempSync(join(folder, "unpack-"));
  const chosen = mkdtempSync(join(folder, "chosen-"));
  try {
    await extract(archive, whole);
    for (const path of readdirSync(whole, { recursive: true, withFileTypes: true })) {
      if (!path.isFile()) continue;
      const full = join(path.parentPath, path.name);
      // The archive's own folder, which names the version, is left out.
      const inside = full.slice(whole.length + 1).replace(/^[^/]*\//, "");
      for (const [name, bytes] of documentsOf(item, inside, full)) {
        mkdirSync(dirname(join(chosen, name)), { recursive: true });
        writeFileSync(join(chosen, name), bytes);
      }
    }
    mkdirSync(dirname(into), { recursive: true });
    renameSync(chosen, into);
    return into;
  } finally {
    rmSync(whole, { recursive: true, force: true });
    rmSync(chosen, { recursive: true, force: true });
  }
}

export const nameOf = ({ registry, name }: CorpusPackage): string =>
  `${registry}-${name.replace(/\W+/g, "-").replace(/^-/, "")}`;

/** Returns the documents that a file of the archive stands for, by name: itself, a message within JSON, or none. */
function documentsOf(item: CorpusPackage, name: string, path: string): [string, Uint8Array][] {
  if (item.left_out && new Bun.Glob(item.left_out).match(name)) return [];
  if (item.messages && new Bun.Glob(item.messages).match(name)) {
    const bytes = readFileSync(path);
    if (!name.endsWith(".json")) return [[`${name}.eml`, bytes]];
    const { text } = JSON.parse(bytes.toString()) as { text: string };
    // The package has lost the letters that were not ASCII.
    return text.includes("\ufffd") ? [] : [[name.replace(/json$/, "eml"), Buffer.from(text)]];
  }
  const isText = item.texts && new Bun.Glob(item.texts).match(name);
  return isText || formatOfName(name) ? [[name, readFileSync(path)]] : [];
}

async function extract(archive: string, into: string): Promise<void> {
  const head = readFileSync(archive).subarray(0, 2).toString("latin1");
  if (head === "PK") {
    for (const [name, bytes] of Object.entries(unzipSync(readFileSync(archive)))) {
      if (name.endsWith("/") || name.split("/").includes("..")) continue;
      // A jar has no folder of its own.
      const path = join(into, name.endsWith(".class") ? "classes" : "jar", name);
      if (name.endsWith(".class")) continue;
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, bytes);
    }
    return;
  }
  const child = Bun.spawn(["tar", "-xf", archive, "-C", into], { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const said = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`tar does not unpack ${archive}: ${said.slice(0, 300)}`);
}
