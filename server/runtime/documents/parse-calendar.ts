import { decodeText } from "./decode.ts";
import { decodeDocument } from "./decode-document.ts";
import type { Outline } from "./outline.ts";
import type { ParseOptions } from "./parse-options.ts";

/** Parses calendars (iCalendar) and contacts (vCard): their lines, which are folded within words, are made whole. */
export function parseCalendar(bytes: Uint8Array, outline: Outline, options: ParseOptions): void {
  const text = decodeDocument(bytes, outline, options);
  const quoted = text.replace(
    /^[^\n:]{0,500};(?:ENCODING=)?QUOTED-PRINTABLE[^\n:]{0,500}:(?:[^\n]*=\n)*[^\n]*$/gim,
    readQuoted,
  );
  const lines = quoted.replace(/\n[ \t]/g, "").split("\n");
  outline.code(lines.map(withoutEscapes).join("\n"));
}

/** Decodes a value of vCard 2.1 in which bytes are written as `=E9`. */
function readQuoted(line: string): string {
  const [name = "", ...rest] = line.split(":");
  const value = rest.join(":").replaceAll("=\n", "");
  const bytes = value.replace(/=([\da-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  const charset = /CHARSET=([\w.:-]{2,40})/i.exec(name)?.[1];
  return `${name}:${decodeText(Buffer.from(bytes, "latin1"), charset).replaceAll("\n", " ")}`;
}

/** A line end within a value becomes a space, since the next line begins with another name. */
const withoutEscapes = (line: string): string =>
  line.replace(/\\([nN,;\\])/g, (_, sign: string) => (/n/i.test(sign) ? " " : sign));
