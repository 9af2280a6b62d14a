import { AppError } from "../../domain/errors.ts";
import type { Range, StoredContent } from "../../storage/db/file-blobs.ts";
import { attachmentHeader } from "./file-name.ts";

interface Download {
  request: Request;
  file: { filename: string; mime_type: string };
  content: StoredContent;
  /** Headers of every response. */
  headers: Record<string, unknown>;
}

/** Responses up to this size are sent whole, with a Content-Length. */
const small_bytes = 256 * 1024;

/**
 * Returns a file's content or the requested range, always as a download: a page that is shown would run in the
 * dashboard's origin. Streamed from the database at the client's pace.
 */
export function download({ request, file, content, headers }: Download): Response {
  const etag = `"${content.sha256}"`;
  const common = {
    etag,
    "accept-ranges": "bytes",
    "cache-control": "private, no-cache",
    "content-disposition": attachmentHeader(file.filename),
    "content-security-policy": "sandbox; default-src 'none'",
    "cross-origin-resource-policy": "same-origin",
  };
  if (isKnown(request.headers.get("if-none-match"), etag)) return new Response(null, { status: 304, headers: common });
  const range = readRange(request.headers, etag, content.bytes);
  if (range === "unsatisfiable") {
    headers["content-range"] = `bytes */${content.bytes}`;
    throw new AppError("range_not_satisfiable", `The file has ${content.bytes} bytes.`);
  }
  const part = range && { "content-range": `bytes ${range.start}-${range.end - 1}/${content.bytes}` };
  const byteRange = range ?? { start: 0, end: content.bytes };
  return new Response(bodyOf(request.method === "HEAD" ? blank : content, byteRange), {
    status: range ? 206 : 200,
    headers: { ...common, "content-type": typeHeader(file.mime_type), ...part },
  });
}

const typeHeader = (type: string): string => (type.startsWith("text/") ? `${type}; charset=utf-8` : type);

/** True if the client has this version already. */
export const isKnown = (header: string | null, etag: string): boolean =>
  header !== null &&
  (header.trim() === "*" || header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag));

/** Null: the whole file. Also for several ranges at once, which a server may ignore. */
function readRange(headers: Headers, etag: string, size: number): Range | "unsatisfiable" | null {
  const [, first = "", last = ""] = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i.exec(headers.get("range") ?? "") ?? [];
  const isOther = (headers.get("if-range") ?? etag) !== etag;
  if (isOther || (first === "" && last === "")) return null;
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size : Math.min(size, Number(last) + 1);
  if (first !== "" && last !== "" && Number(last) < Number(first)) return null;
  return start < end ? { start, end } : "unsatisfiable";
}

type Readable = Pick<StoredContent, "read">;

/** Blank content for HEAD: the framework counts the bytes of the body that it does not send. */
const blank: Readable = {
  *read({ start, end } = { start: 0, end: 0 }) {
    for (let remaining = end - start; remaining > 0; remaining -= small_bytes)
      yield new Uint8Array(Math.min(remaining, small_bytes));
  },
};

function bodyOf(content: Readable, range: Range): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> {
  const chunks = content.read(range);
  if (range.end - range.start <= small_bytes) return Buffer.concat([...chunks]);
  const source: Bun.DirectUnderlyingSource = {
    type: "direct",
    async pull(controller) {
      for (const chunk of chunks) {
        if ((await controller.write(chunk)) === 0) return; // The client disconnected.
        // The write copied the chunk. Free it now: the garbage collector would leave half of the file in memory.
        (chunk.buffer as ArrayBuffer).transfer(0);
        await Bun.sleep(0); // Let other requests go first, also if the client never makes us wait.
      }
      controller.close();
    },
  };
  return new ReadableStream<Uint8Array>(source as object); // The DOM types, which scripts use, lack it.
}
