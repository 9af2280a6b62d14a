import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliDecompress, brotliDecompressSync } from "node:zlib";

/** A file of a folder that the build made. Its texts are stored compressed only: plain, they take four times as much. */
export interface BuiltFile {
  path: string;
  type: string;
  isCompressed: boolean;
}

const suffix = ".br";
const decompress = promisify(brotliDecompress);

/** Returns the files of a built folder by name, without the suffix of the compressed ones; none before a build. */
export function builtFilesIn(folder: string): Map<string, BuiltFile> {
  const all = existsSync(folder) ? readdirSync(folder, { recursive: true }) : [];
  const paths = all.map((name) => String(name).replaceAll("\\", "/")).filter((name) => isFile(join(folder, name)));
  return new Map(
    paths.map((path) => {
      const isCompressed = path.endsWith(suffix);
      const name = isCompressed ? path.slice(0, -suffix.length) : path;
      return [name, { path: join(folder, path), type: typeOf(name), isCompressed }];
    }),
  );
}

const isFile = (path: string): boolean => statSync(path).isFile();

const typeOf = (name: string): string => (name.endsWith(".md") ? "text/markdown; charset=utf-8" : Bun.file(name).type);

/** Reads a text of the build. */
export function readBuiltText({ path, isCompressed }: BuiltFile): string {
  const bytes = readFileSync(path);
  return (isCompressed ? brotliDecompressSync(bytes) : bytes).toString();
}

/** Returns a file as a response: compressed if it is stored so and the client accepts it. */
export async function builtResponse(
  { path, type, isCompressed }: BuiltFile,
  request: Request,
  { status, headers }: { status?: number; headers: Record<string, string> },
): Promise<Response> {
  const its = { ...headers, "content-type": type };
  const file = Bun.file(path);
  if (!isCompressed) return new Response(file, { status, headers: its });
  if (takesBrotli(request)) return new Response(file, { status, headers: { ...its, "content-encoding": "br" } });
  return new Response(await decompress(await file.bytes()), { status, headers: its });
}

/** True if the client accepts Brotli. */
export const takesBrotli = (request: Request): boolean =>
  /\bbr\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(request.headers.get("accept-encoding") ?? "");
