import type { CreateFile } from "../../../../server/files/schema.ts";
import type { File as StoredFile } from "../../../../server/wire/file.ts";
import { ApiError, type ErrorBody, toError } from "../../lib/api.ts";

/** The largest file that the server takes. */
export const mostBytes = 100 * 1024 * 1024;

/** What goes with a file. */
export type UploadFields = Pick<CreateFile, "purpose" | "memory_id" | "scope_id" | "expires_in_seconds">;

/** Sends a file in parts, and tells how much of it has gone. A fetch would not say. */
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
      else reject(refusal(request));
    });
    request.addEventListener("error", () => reject(noAnswer()));
    request.addEventListener("abort", () => reject(noAnswer()));
    signal.addEventListener("abort", () => request.abort(), { once: true });
    request.send(form);
  });
}

function refusal({ status, responseText }: XMLHttpRequest): ApiError {
  let body: ErrorBody | null = null;
  try {
    body = JSON.parse(responseText) as ErrorBody;
  } catch {
    // No JSON: something between here and the server has answered.
  }
  return toError(new Response(null, { status }), body);
}

const noAnswer = () =>
  new ApiError(0, "unreachable", "The upload was cut off. The server may be stopped, or the network is down.");
