/** The media type of a file by the end of its name. */
export function mimeTypeOf(name: string): string {
  const type = Bun.file(name).type;
  return type.split(";")[0] || "application/octet-stream";
}
