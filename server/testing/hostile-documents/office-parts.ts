import { constants, deflateRawSync } from "node:zlib";
import { zipSync } from "fflate";
import { columnName, docxBody, officeParts, relationships, zipOf } from "../documents.ts";
import { megabyte } from "./hostile-document.ts";

export const documentOf = (body: string, before = "") =>
  zipOf({
    ...officeParts("word/document.xml", { "word/document.xml": "wordprocessingml.document.main" }),
    "word/document.xml": docxBody(body, before),
  });
export const paragraph = (text: string) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;

export const workbookOf = (sheet: string, more: Record<string, string | Uint8Array> = {}) =>
  zipOf({
    ...officeParts("xl/workbook.xml", { "xl/workbook.xml": "spreadsheetml.sheet.main" }),
    "xl/workbook.xml": `<workbook xmlns:r="r"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": relationships([
      ["rId1", "worksheet", "worksheets/sheet1.xml"],
      ["rId2", "sharedStrings", "sharedStrings.xml"],
    ]),
    "xl/worksheets/sheet1.xml": sheet,
    ...more,
  });

export const singleCell = (column: number) => `<row><c r="${columnName(column)}1"><v>1</v></c></row>`;

/** Returns a part of 210 MB of spaces, which compresses to a thousandth: one compressed piece is repeated. */
export function largePart(name: string): Uint8Array {
  const piece = deflateRawSync(new Uint8Array(10 * megabyte).fill(32), { finishFlush: constants.Z_FULL_FLUSH });
  const packed = Buffer.concat([...Array<Buffer>(21).fill(piece), deflateRawSync("")]);
  const archive = zipSync({ [name]: [packed, { level: 0 }] });
  return lying(lying(archive, 10, 8, 2), 24, 210 * megabyte);
}

/** Returns the archive with another value in this field of each directory entry. */
export function lying(zip: Uint8Array, field: number, value: number, bytes: 2 | 4 = 4): Uint8Array {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  for (let at = 0; at < zip.length - 46; at++) {
    if (view.getUint32(at, true) !== 0x02014b50) continue;
    if (bytes === 4) view.setUint32(at + field, value, true);
    else view.setUint16(at + field, value, true);
  }
  return zip;
}
