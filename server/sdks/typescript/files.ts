import type { Client, RequestOptions } from "./client.ts";
import { RunnelError } from "./errors.ts";
import { writeJson } from "./json.ts";

/** Content of a file. A `File` already has a name. */
export type FileContent = Blob | Uint8Array<ArrayBuffer> | ArrayBuffer | string;

/** Uploads take longer than other requests. */
const uploadTimeoutMs = 600_000;

/** Base class of the generated resource `files`. */
export abstract class FilesBase<Uploaded, Fields extends object> {
  constructor(protected readonly client: Client) {}

  /**
   * Uploads a file. The name is that of a `File`; other content needs `filename`.
   *
   * @param content In Node use `await openAsBlob(path)`, in Bun `Bun.file(path)`, to read the file while it is sent.
   */
  upload(
    content: FileContent,
    { filename, ...fields }: { filename?: string | undefined } & Omit<Fields, "file">,
    options?: RequestOptions,
  ): Promise<Uploaded> {
    const name = filename ?? (content as Partial<File>).name?.split(/[\\/]/).at(-1);
    if (name === undefined) throw new RunnelError("The content has no name: pass `filename`.");
    const body = multipart(content, name, fields);
    return this.client.json("POST", "/v1/files", { timeoutMs: uploadTimeoutMs, ...options, body });
  }
}

/**
 * Serializes a multipart form. Not with `FormData`, which uses another boundary each time: a retry under the same
 * idempotency key must have the same bytes.
 */
function multipart(content: FileContent, filename: string, fields: object): Blob {
  const boundary = `runnel-${crypto.randomUUID()}`;
  const start = (name: string): string => `--${boundary}\r\ncontent-disposition: form-data; name="${quoted(name)}"`;
  const parts: FileContent[] = Object.entries(fields).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return [`${start(name)}\r\n\r\n${typeof value === "object" ? writeJson(value) : String(value)}\r\n`];
  });
  const type = (content instanceof Blob && content.type) || "application/octet-stream";
  // The file comes last, so that the server knows its purpose first.
  parts.push(`${start("file")}; filename="${quoted(filename)}"\r\ncontent-type: ${type}\r\n\r\n`, content);
  parts.push(`\r\n--${boundary}--\r\n`);
  return new Blob(parts, { type: `multipart/form-data; boundary=${boundary}` });
}

/** Escapes a name as the HTML standard does for forms. */
const quoted = (text: string): string => text.replace(/\r\n|\r|\n/g, "%0D%0A").replaceAll('"', "%22");
