import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pythonWith } from "../python-tool.ts";
import { digestOf, folder } from "./fetch.ts";
import type { CorpusFile } from "./files.ts";

/** Python libraries that read documents as references, from PyPI. */
const libraries = [
  "python-docx==1.2.0",
  "openpyxl==3.1.5",
  "python-pptx==1.0.2",
  "beautifulsoup4==4.15.0",
  "charset-normalizer==3.5.3",
  "striprtf==0.0.35",
  "extract-msg==0.57.0",
] as const;

/** Text that another program reads in a file, or the reason why there is none. */
export type Reference = { tool: string; text: string } | { tool: string; error: string } | { missing: string };

const script = join(import.meta.dir, "references.py");

/**
 * Returns the references by path. They are kept in a cache by content, because a file's reference changes only with the
 * script. Without Python, none is there.
 */
export async function readReferences(files: readonly CorpusFile[]): Promise<Map<string, Reference>> {
  const python = await findPython();
  const cache = join(folder, "references", digestOf(Buffer.from(`${readFileSync(script)}${versions()}`)).slice(0, 12));
  mkdirSync(cache, { recursive: true });
  const keyOf = ({ digest, format }: CorpusFile) => join(cache, `${format}-${digest.slice(0, 24)}.json`);
  const found = new Map<string, Reference>();
  const unread = files.filter((file) => {
    if (file.format === "old") return false;
    if (!existsSync(keyOf(file))) return true;
    found.set(file.name, JSON.parse(readFileSync(keyOf(file), "utf8")));
    return false;
  });
  if (unread.length === 0) return found;
  if (!python) {
    for (const { name } of unread) found.set(name, { missing: "python3" });
    return found;
  }
  const byId = new Map(unread.map((file) => [file.name, file]));
  const tasks = unread.map(({ name, path, format }) => ({ id: name, path, kind: format }));
  const child = Bun.spawn([python, script], {
    stdin: Buffer.from(JSON.stringify(tasks)),
    stdout: "pipe",
    stderr: "ignore",
  });
  for await (const line of linesOf(child.stdout)) {
    const { id, ...reference } = JSON.parse(line) as { id: string } & Reference;
    found.set(id, reference);
    const file = byId.get(id);
    if (file && !("missing" in reference)) writeFileSync(keyOf(file), JSON.stringify(reference));
  }
  return found;
}

async function findPython(): Promise<string | null> {
  const programs = await pythonWith("corpus-references-1", libraries);
  return programs ? join(programs, "python") : Bun.which(process.env.PYTHON ?? "python3");
}

/** Returns the versions of the programs that are references. */
export function versions(): string[] {
  const said = (command: string[]) => {
    if (!Bun.which(command[0]!)) return [];
    const { stdout, stderr } = Bun.spawnSync(command);
    return [/^(\w+)(?: version)? ([\d.]+\d)/.exec(`${stdout}${stderr}`)?.slice(1).join(" ") ?? command[0]!];
  };
  const own = [
    ["pdftotext", "-v"],
    ["soffice", "--version"],
    [process.env.PYTHON ?? "python3", "--version"],
  ];
  return [...own.flatMap(said), ...libraries.map((name) => name.replace("==", " "))];
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
}
