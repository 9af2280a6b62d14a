import { DocumentError } from "./document-error.ts";
import { odfBody } from "./odf-body.ts";
import { noStyles, readOdfStyle } from "./odf-styles.ts";
import { openOffice } from "./office.ts";
import type { Outline } from "./outline.ts";
import { saysMore } from "./page-edges.ts";
import { type Attributes, readXml, type XmlListener } from "./xml.ts";

const objectsMost = 1000;

/**
 * A text document, a workbook or a presentation of OpenDocument, as its counterparts of Office are read. Gives how many
 * slides there are; the pages of others are nowhere told of.
 */
export function parseOdf(bytes: Uint8Array, outline: Outline): number | null {
  const file = openOffice(bytes);
  const manifest = file.read("META-INF/manifest.xml");
  if (manifest && Buffer.from(manifest).includes("encryption-data"))
    throw new DocumentError("document_encrypted", "The document is encrypted.");
  const content = file.need("content.xml");
  const styles = noStyles(Buffer.from(content).includes("<office:spreadsheet"));
  const edges = new Set<string>();
  const shared = file.read("styles.xml");
  if (shared)
    readXml(
      shared,
      edgeReader(edges, (name, attribute) => readOdfStyle(styles, name, attribute)),
    );
  const objects = new Set<string>();
  const addEdge = (text: string) => void (saysMore(text) && edges.add(text.trim()));
  const body = odfBody(outline, styles, { addObject: (name) => objects.add(name), addEdge });
  readXml(content, body);
  // Charts have the table that they draw.
  for (const name of [...objects].slice(0, objectsMost)) {
    const object = file.read(`${name}/content.xml`);
    if (!object) continue;
    readXml(object, odfBody(outline, noStyles(false), { addObject() {}, addEdge }));
    outline.block(formulaOf(object));
  }
  if (edges.size > 0) outline.leave();
  for (const text of edges) outline.block(text);
  return body.slides() || null;
}

/** A formula as it was written, where an object is one. */
function formulaOf(object: Uint8Array): string {
  let [isFormula, reading, text] = [false, false, ""];
  readXml(object, {
    open(name) {
      isFormula ||= name === "math";
      reading = isFormula && name === "annotation";
    },
    close() {
      reading = false;
    },
    text(piece) {
      if (reading) text += piece;
    },
  });
  return text;
}

/** Fields whose text is the page's, or the file's. */
const fields = new Set(["page-number", "page-count", "date", "time", "sheet-name", "file-name"]);
const edge = /^(?:header|footer)(?:-first|-left)?$/;
const shape = /^(?:frame|custom-shape|rect|ellipse|line|path|polygon|connector)$/;

/**
 * Heads and feet of pages, where there is more in them than the page's number, and what is written on the background of
 * slides: not in the places that it keeps free.
 */
function edgeReader(edges: Set<string>, open: (name: string, attribute: Attributes) => void): XmlListener {
  let [inBackground, text] = [false, ""];
  // The elements that are open of a head, a foot or a shape, and where a field began in there.
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
      if (depth === 0 && saysMore(whole)) edges.add(whole);
    },
    text(piece) {
      if (depth > 0 && field === 0 && !/^<.*>$/.test(piece)) text += piece;
    },
  };
}
