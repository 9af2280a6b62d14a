import { DocumentError } from "./document-error.ts";
import { odfBody } from "./odf-body.ts";
import { noStyles, readOdfStyle } from "./odf-styles.ts";
import { openOffice } from "./office.ts";
import type { Outline } from "./outline.ts";
import { readXml } from "./xml.ts";

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
  const body = odfBody(outline, styles, (name) => objects.add(name));
  readXml(content, body);
  // Charts have the table that they draw.
  for (const name of [...objects].slice(0, objectsMost)) {
    const object = file.read(`${name}/content.xml`);
    if (object)
      readXml(
        object,
        odfBody(outline, noStyles(false), () => {}),
      );
  }
  if (edges.size > 0) outline.leave();
  for (const text of edges) outline.block(text);
  return body.slides() || null;
}

/** Heads and feet of pages, where there is more in them than the page's number. */
function edgeReader(edges: Set<string>, open: (name: string, attribute: Parameters<typeof readOdfStyle>[2]) => void) {
  let [inEdge, text] = [false, ""];
  const edge = /^(?:header|footer)(?:-first|-left)?$/;
  return {
    open(name: string, attribute: Parameters<typeof readOdfStyle>[2]) {
      open(name, attribute);
      if (edge.test(name)) [inEdge, text] = [true, ""];
    },
    close(name: string) {
      if (name === "p") text += " ";
      if (!edge.test(name)) return;
      if (/\p{L}{2}/u.test(text)) edges.add(text.trim());
      inEdge = false;
    },
    text(piece: string) {
      if (inEdge && !/^<.*>$/.test(piece)) text += piece;
    },
  };
}
