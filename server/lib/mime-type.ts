import { textBefore } from "./text-before.ts";
/** Returns the media type for a file name's extension. */
export function mimeTypeOf(name: string): string {
  const type = Bun.file(name).type;
  return type.split(";")[0] || "application/octet-stream";
}

/** Returns the media type of a body without its parameters, in lower case; empty if the headers name none. */
export const contentTypeOf = (headers: Headers): string =>
  textBefore(headers.get("content-type") ?? "", ";")
    .trim()
    .toLowerCase();
