import type { File as StoredFile } from "../../../../server/domain/api-types/file.ts";
import type { CreateFile } from "../../../../server/resources/files/schema.ts";
import { ApiError, type ErrorBody, toError } from "../../lib/api.ts";

/** The server's limit for one file, in bytes. */
export const maxUploadBytes = 100 * 1024 * 1024;

/** Form fields sent with a file. */
export type UploadFields = Pick<
  CreateFile,
  "purpose" | "memory_id" | "scope_id" | "expires_in_seconds" | "encoding" | "include_hidden"
>;

/** Uploads a file as multipart form data. Uses XMLHttpRequest, because fetch does not report upload progress. */
export function upload(
  url: string,
  file: File,
  fields: UploadFields,
  onProgress: (sent: number) => void,
  signal: AbortSignal,
): Promise<StoredFile> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) form.set(name, String(value));
  form.set("file", file, file.name);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", url);
    request.setRequestHeader("Accept", "application/json");
    request.setRequestHeader("X-Runnel-Console", "1");
    request.upload.addEventListener("progress", ({ loaded }) => onProgress(Math.min(loaded, file.size)));
    request.addEventListener("load", () => {
      if (request.status >= 200 && request.status < 300) resolve(JSON.parse(request.responseText) as StoredFile);
      else reject(responseError(request));
    });
    request.addEventListener("error", () => reject(connectionError()));
    request.addEventListener("abort", () => reject(connectionError()));
    signal.addEventListener("abort", () => request.abort(), { once: true });
    request.send(form);
  });
}

function responseError({ status, responseText }: XMLHttpRequest): ApiError {
  let body: ErrorBody | null = null;
  try {
    body = JSON.parse(responseText) as ErrorBody;
  } catch {
    // Not JSON: a proxy answered instead of the server.
  }
  return toError(new Response(null, { status }), body);
}

const connectionError = () =>
  new ApiError(0, "unreachable", "The upload was cut off. The server may be stopped, or the network is down.");
