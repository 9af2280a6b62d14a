/** Returns the media type for a file name's extension. */
export function mimeTypeOf(name: string): string {
  const type = Bun.file(name).type;
  return type.split(";")[0] || "application/octet-stream";
}
