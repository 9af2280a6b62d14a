import { documentBounds } from "./bounds.ts";
import { tooLarge, unreadable } from "./document-error.ts";

/** Text in the window before the first byte (MS-OXRTFCP). */
const preset =
  "{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx";
const windowSize = 4096;
const [compressed, stored] = [0x75465a4c, 0x414c454d];

/** Unpacks the RTF of an Outlook message. */
export function unpackRtf(bytes: Uint8Array): Uint8Array {
  if (bytes.length < 16) throw unreadable("Its text is damaged.");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const [size, kind] = [view.getUint32(4, true), view.getUint32(8, true)];
  if (kind === stored) return bytes.subarray(16, 16 + size);
  if (kind !== compressed) throw unreadable("Its text is compressed in an unknown way.");
  if (size > documentBounds.text * 4) throw tooLarge("It unpacks to too much.");
  return unpack(bytes.subarray(16), size);
}

/** Unpacks runs of eight tokens: a byte itself, or the place and length of bytes in the window. */
function unpack(packed: Uint8Array, size: number): Uint8Array {
  const ring = new Uint8Array(windowSize);
  ring.set(Buffer.from(preset, "latin1"));
  let [write, length, at] = [preset.length, 0, 0];
  const out = new Uint8Array(size);
  const put = (byte: number) => {
    if (length < size) out[length++] = byte;
    ring[write] = byte;
    write = (write + 1) % windowSize;
  };
  while (at < packed.length && length < size) {
    const flags = packed[at++] ?? 0;
    for (let bit = 0; bit < 8 && at < packed.length; bit++) {
      if ((flags & (1 << bit)) === 0) {
        put(packed[at++] ?? 0);
        continue;
      }
      const token = ((packed[at] ?? 0) << 8) | (packed[at + 1] ?? 0);
      at += 2;
      const offset = token >> 4;
      if (offset === write) return out.subarray(0, length);
      for (let index = 0; index < (token & 15) + 2; index++) put(ring[(offset + index) % windowSize] ?? 0);
    }
  }
  return out.subarray(0, length);
}
