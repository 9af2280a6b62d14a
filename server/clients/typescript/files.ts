import type { Client, RequestOptions } from "./client.ts";

/** What the generated resource `files` adds its routes to. */
export abstract class FilesBase<Uploaded, Fields extends object> {
  constructor(protected readonly client: Client) {}

  /** Uploads a file. A `File` has its name; other bytes need `filename`. */
  upload(
    content: Blob,
    { filename, ...fields }: { filename?: string } & Omit<Fields, "file">,
    options?: RequestOptions,
  ): Promise<Uploaded> {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) {
      if (value === undefined) continue;
      form.append(name, typeof value === "object" ? JSON.stringify(value) : String(value));
    }
    // Last: the server knows what the file is for before its bytes come.
    const name = filename ?? (content as Partial<File>).name;
    if (name === undefined) form.append("file", content);
    else form.append("file", content, name);
    return this.client.json("POST", "/v1/files", { ...options, body: form });
  }
}
