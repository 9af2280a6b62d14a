import { DocumentError } from "./document-error.ts";
import { createHiddenText } from "./hidden-text.ts";
import { odfBody } from "./odf-body.ts";
import { noStyles, readOdfStyle } from "./odf-styles.ts";
import { openOffice } from "./office.ts";
import type { Outline } from "./outline.ts";
import { hasWords } from "./page-edges.ts";
import type { ParseOptions } from "./parse-options.ts";
import { type Attributes, type PartReader, readXml, type XmlListener } from "./xml.ts";

const objectsMost = 1000;

/**
 * Parses an OpenDocument text, workbook or presentation like its Office counterpart. Returns the number of slides, or
 * null, because the other formats do not record pages.
 */
export function parseOdf(bytes: Uint8Array, outline: Outline, { includeHidden }: ParseOptions): number | null {
  const isFlat = /^(?:\xef\xbb\xbf)?\s*</.test(Buffer.from(bytes.subarray(0, 100)).toString("latin1"));
  const file = isFlat ? null : openOffice(bytes, outline);
  const manifest = file?.bytesOf("META-INF/manifest.xml");
  if (manifest && Buffer.from(manifest).includes("encryption-data"))
    throw new DocumentError("document_encrypted", "The document is encrypted.");
  const content = file?.need("content.xml") ?? bytes;
  const styles = noStyles(Buffer.from(content).includes("<office:spreadsheet"));
  const edges = new Set<string>();
  const readShared: PartReader = file?.part("styles.xml") ?? ((listener) => readXml(bytes, listener));
  readShared(edgeReader(edges, (name, attribute) => readOdfStyle(styles, name, attribute)));
  const hiddenText = createHiddenText(outline, includeHidden);
  const objects = new Set<string>();
  const addEdge = (text: string) => void (hasWords(text) && edges.add(text.trim()));
  const body = odfBody(outline, styles, { hiddenText, addObject: (name) => objects.add(name), addEdge });
  readXml(content, body);
  if (isFlat) outline.block(formulasOf((listener) => readXml(bytes, listener)));
  // A chart contains the table that it draws.
  for (const name of file ? [...objects].slice(0, objectsMost) : []) {
    const read = file?.part(`${name}/content.xml`) ?? (() => {});
    read(odfBody(outline, noStyles(false), { hiddenText, addObject() {}, addEdge }));
    outline.block(formulasOf(read));
  }
  hiddenText.warn();
  if (edges.size > 0) outline.leave();
  for (const text of edges) outline.block(text);
  return body.slides() || null;
}

/** Returns the source of each formula. */
function formulasOf(read: PartReader): string {
  let [isFormula, reading, text] = [false, false, ""];
  read({
    open(name) {
      isFormula ||= name === "math";
      reading = isFormula && name === "annotation";
    },
    close(name) {
      reading = false;
      if (name !== "math") return;
      isFormula = false;
      text += "\n";
    },
    text(piece) {
      if (reading) text += piece;
    },
  });
  return text;
}

/** Fields that stand for the page number, the date or the file. */
const fields = new Set(["page-number", "page-count", "date", "time", "sheet-name", "file-name"]);
const edge = /^(?:header|footer)(?:-first|-left)?$/;
const shape = /^(?:frame|custom-shape|rect|ellipse|line|path|polygon|connector)$/;

/**
 * Reads headers and footers that are more than a page number, and the text of a slide's background except its
 * placeholders.
 */
function edgeReader(edges: Set<string>, open: (name: string, attribute: Attributes) => void): XmlListener {
  let [inBackground, text] = [false, ""];
  // Depth within the header, footer or shape, and the depth at which a field began.
  let [depth, field] = [0, 0];
  return {
    open(name, attribute, prefix) {
      open(name, attribute);
      if (name === "master-page") inBackground = true;
      const begins = (prefix === "style" && edge.test(name)) || (inBackground && shape.test(name));
      const isShown = attribute("display") !== "false" && attribute("class") === null;
      if (depth === 0 && begins && isShown) text = "";
      if (depth > 0 || (begins && isShown)) depth++;
      if (depth > 0 && field === 0 && prefix === "text" && fields.has(name)) field = depth;
      if (depth > 0 && (name === "s" || name === "tab" || name === "line-break")) text += " ";
    },
    close(name) {
      if (name === "master-page") inBackground = false;
      if (depth === 0) return;
      if (name === "p") text += " ";
      if (depth === field) field = 0;
      depth--;
      const whole = text.replace(/\s+/g, " ").trim();
      if (depth === 0 && hasWords(whole)) edges.add(whole);
    },
    text(piece) {
      if (depth > 0 && field === 0 && !/^<.*>$/.test(piece)) text += piece;
    },
  };
}
