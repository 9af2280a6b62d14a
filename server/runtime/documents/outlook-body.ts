import { chooseVersions } from "./alternatives.ts";
import { encodingOf } from "./code-pages.ts";
import { decodeAs } from "./decode.ts";
import { DocumentError } from "./document-error.ts";
import { unwrapLayoutTables } from "./layout-tables.ts";
import type { Outline } from "./outline.ts";
import type { ParserOptions } from "./parse-options.ts";
import { openPartText } from "./part-outline.ts";
import { unpackRtf } from "./rtf-compression.ts";

/** The same text as Outlook stores it: plain, as HTML, and as RTF. */
interface OutlookBody {
  plain: string;
  /** Bytes, or text if it was stored as such. */
  html: Uint8Array | string;
  /** Code page of the HTML's bytes; null: found in the page. */
  htmlCodePage: number | null;
  rtf: Uint8Array;
}

/** Writes the text of an Outlook message: the plainest version that has the words of the others. */
export async function writeOutlookBody(body: OutlookBody, outline: Outline, options: ParserOptions): Promise<void> {
  const readers = [
    body.plain.trim() === "" ? null : async (to: Outline) => to.block(body.plain),
    body.html.length === 0 ? null : (to: Outline) => options.readPart(htmlBytes(body), "text/html", to, its),
    body.rtf.length === 0 || body.html.length > 0
      ? null
      : async (to: Outline) => await options.readPart(unpackRtf(body.rtf), "application/rtf", to, its),
  ].filter((reader) => reader !== null);
  const versions = await Promise.all(readers.map((reader) => versionOf(reader)));
  for (const { index, lines } of chooseVersions(versions.map((version) => version.text()))) {
    if (lines === null) versions[index]?.writeTo(outline);
    else outline.block(lines.join("\n"));
  }
}

const its = { encoding: null };

async function versionOf(reader: (outline: Outline) => Promise<void>) {
  const text = openPartText();
  try {
    await reader({ ...text.outline, encodedAs() {} });
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    text.outline.warn("part_unreadable", `A version of the text was not read: ${error.message}`);
  }
  return text;
}

function htmlBytes({ html, htmlCodePage }: OutlookBody): Uint8Array {
  const text =
    typeof html === "string" ? html : htmlCodePage === null ? null : decodeAs(encodingOf(htmlCodePage), html);
  return text === null ? (html as Uint8Array) : new TextEncoder().encode(`\ufeff${unwrapLayoutTables(text)}`);
}
