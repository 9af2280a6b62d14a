const maxBytes = 255;
// Controls, line ends, and what turns the direction of writing: `exe.fdp` would be read as `pdf.exe`, or the other way.
const unfit = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

/** A client's name for a file, fit to be shown: no path, no controls, at most 255 bytes. Nothing is ever opened by it. */
export function fitFileName(name: string): string {
  const last = name.toWellFormed().split(/[/\\]/).at(-1)!;
  const shown = last.replace(unfit, "").trim();
  return /^\.*$/.test(shown) ? "file" : shortened(shown);
}

/** Cut in the middle, since the end of a name says what it is. */
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

/** `Content-Disposition` by which a browser saves a file under this name and never shows it in our place. */
export function attachmentHeader(name: string): string {
  const ascii = name.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
