import type { Client, RequestOptions } from "./client.ts";
import { RunnelError } from "./errors.ts";
import { writeJson } from "./json.ts";

/** What a file is made of. A `File` has its name. */
export type FileContent = Blob | Uint8Array<ArrayBuffer> | ArrayBuffer | string;

/** Bytes take their time: longer than other requests. */
const uploadTimeoutMs = 600_000;

/** What the generated resource `files` adds its routes to. */
export abstract class FilesBase<Uploaded, Fields extends object> {
  constructor(protected readonly client: Client) {}

  /**
   * Uploads a file. Its name is that of a `File`; other content needs `filename`.
   *
   * @param content In node `await openAsBlob(path)`, in Bun `Bun.file(path)`: then it is read while it is sent.
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
 * A form. By hand, since a `FormData` has another boundary each time that it is sent, and a request that is retried
 * under the same key must have the same bytes.
 */
function multipart(content: FileContent, filename: string, fields: object): Blob {
  const boundary = `runnel-${crypto.randomUUID()}`;
  const start = (name: string): string => `--${boundary}\r\ncontent-disposition: form-data; name="${quoted(name)}"`;
  const parts: FileContent[] = Object.entries(fields).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return [`${start(name)}\r\n\r\n${typeof value === "object" ? writeJson(value) : String(value)}\r\n`];
  });
  const type = (content instanceof Blob && content.type) || "application/octet-stream";
  // Last: the server knows what the file is for before its bytes come.
  parts.push(`${start("file")}; filename="${quoted(filename)}"\r\ncontent-type: ${type}\r\n\r\n`, content);
  parts.push(`\r\n--${boundary}--\r\n`);
  return new Blob(parts, { type: `multipart/form-data; boundary=${boundary}` });
}

/** As the HTML standard writes names in forms. */
const quoted = (text: string): string => text.replace(/\r\n|\r|\n/g, "%0D%0A").replaceAll('"', "%22");
