import { decodeText } from "./decode.ts";
import { tooLarge } from "./document-error.ts";
import type { Archive } from "./zip.ts";

const partsMost = 5000;

/** True for an Office document in one XML file, with its parts in an element each (flat OPC). */
export function isFlatPackage(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 4096)).toString("latin1");
  return /<[\w-]{1,20}:package\s[^>]{0,500}\/office\/2006\/xmlPackage/.test(start);
}

/** Opens an Office document in one XML file as the archive that it stands for. */
export function openFlatPackage(bytes: Uint8Array): Archive {
  const text = decodeText(bytes);
  const parts = new Map<string, string>();
  const partEnd = /<\/(?:[\w-]{1,20}:)?part>/g;
  const part = /<(?:[\w-]{1,20}:)?part\s([^>]{0,1000})>/g;
  for (let open = part.exec(text); open !== null; open = part.exec(text)) {
    const name = /\bname\s*=\s*["']\/?([^"']{1,300})["']/.exec(open[1] ?? "")?.[1];
    partEnd.lastIndex = part.lastIndex;
    const end = partEnd.exec(text)?.index ?? -1;
    // Without this, each further part would be searched to the end of the file.
    if (end < 0) break;
    if (name === undefined) continue;
    if (parts.size >= partsMost) throw tooLarge(`It has more than ${partsMost} parts.`);
    parts.set(name.toLowerCase(), text.slice(part.lastIndex, end));
    part.lastIndex = end;
  }
  return {
    has: (name) => parts.has(name.toLowerCase()),
    read(name) {
      const content = parts.get(name.toLowerCase());
      return content === undefined ? null : bytesOf(content);
    },
  };
}

/** Returns the content of a part: an XML document as it is, other bytes from Base64. */
function bytesOf(content: string): Uint8Array {
  const [, kind = "", rest = ""] =
    /^\s*<(?:[\w-]{1,20}:)?(xmlData|binaryData)(?:\s[^>]*)?>([\s\S]*)$/.exec(content) ?? [];
  const end = rest.lastIndexOf(`${kind}>`);
  const inner = rest.slice(0, Math.max(0, rest.lastIndexOf("<", end)));
  return kind === "binaryData" ? new Uint8Array(Buffer.from(inner, "base64")) : Buffer.from(inner);
}
