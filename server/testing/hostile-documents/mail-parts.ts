import { type Folder, messageOf, propertiesOf } from "../outlook-message.ts";
import { tnefOf } from "../tnef-file.ts";
import { utf8 } from "./hostile-document.ts";

/** Returns a mail of some text with files of this name attached. */
export function mailWith(files: readonly Uint8Array[], name: string): Uint8Array {
  const parts = files.map(
    (content) =>
      `--b\nContent-Disposition: attachment; filename="${name}"\nContent-Transfer-Encoding: base64\n\n${Buffer.from(content).toString("base64")}\n`,
  );
  return utf8(`Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nSome text.\n${parts.join("")}--b--\n`);
}

export const packedFiles = (depth: number): Uint8Array =>
  depth === 0 ? tnefOf({ plain: "innermost" }) : tnefOf({ files: { "winmail.dat": packedFiles(depth - 1) } });

/** A message with a part in large sectors. */
export const letter = () => messageOf({ "0037": "Title", "1000": "word ".repeat(5000) }, attached(3));

/** Returns the message with another number in its header. */
export function withHeader(at: number, value: number): Uint8Array {
  const bytes = letter();
  new DataView(bytes.buffer).setUint32(at, value, true);
  return bytes;
}

/** Returns the message with another chain of sectors. Its table is the last sector. */
export function circling(next: (sector: number) => number): Uint8Array {
  const bytes = letter();
  const view = new DataView(bytes.buffer);
  for (let sector = 0; sector < 127; sector++) view.setUint32(bytes.length - 512 + 4 * sector, next(sector), true);
  return bytes;
}

/** Returns the message with another number in each directory entry but the first. */
export function entriesWith(at: number, value: number): Uint8Array {
  const bytes = letter();
  const view = new DataView(bytes.buffer);
  const directory = 512 * (view.getUint32(48, true) + 1);
  for (let entry = directory + 128; view.getUint16(entry + 64, true) > 0; entry += 128)
    view.setUint32(entry + at, value, true);
  return bytes;
}

export const attached = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `__attach_version1.0_#${String(index).padStart(8, "0")}`,
      propertiesOf({ "3707": `${index}.txt` }, 8),
    ]),
  );

export const nested = (depth: number): Folder =>
  depth === 0
    ? {}
    : {
        "__attach_version1.0_#00000000": propertiesOf({}, 8, {
          "__substg1.0_3701000D": propertiesOf({ "0037": "x" }, 24, nested(depth - 1)),
        }),
      };
