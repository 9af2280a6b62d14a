const maxBytes = 255;
// Control characters, line ends and direction marks: with them `exe.fdp` would be displayed as `pdf.exe`.
const unfit = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

/** Sanitizes a client's file name for display: no path, no controls, at most 255 bytes. It is never used as a path. */
export function fitFileName(name: string): string {
  const last = name.toWellFormed().replace(/^.*[/\\]/s, "");
  const cleanName = last.replace(unfit, "").trim();
  return /^\.*$/.test(cleanName) ? "file" : shortened(cleanName);
}

/** Cut in the middle, because the extension tells the type. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= maxBytes) return name;
  const [extension = ""] = /\.[^.]{1,16}$/.exec(name) ?? [];
  let stem = "";
  let room = maxBytes - Buffer.byteLength(extension);
  for (const character of name.slice(0, name.length - extension.length)) {
    room -= Buffer.byteLength(character);
    if (room < 0) break;
    stem += character;
  }
  return stem + extension;
}

/** `Content-Disposition` header that makes a browser save the file and never render it on our origin. */
export function attachmentHeader(name: string): string {
  const ascii = name.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
