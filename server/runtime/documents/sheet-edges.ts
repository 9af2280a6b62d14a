import { hasWords } from "./page-edges.ts";
import type { XmlListener } from "./xml.ts";

/** Matches the headers and footers of a sheet's odd, even and first printed pages. */
const edge = /^(?:odd|even|first)(?:Header|Footer)$/;

/**
 * Collects the headers and footers of a sheet, each text once. Codes that begin with `&` (page number, date, file name,
 * picture, font, colour) are removed.
 */
export function edgeReader(): XmlListener & { edges: Set<string> } {
  const edges = new Set<string>();
  let [inEdge, code] = [false, ""];
  return {
    edges,
    open(name) {
      if (edge.test(name)) [inEdge, code] = [true, ""];
    },
    close(name) {
      if (!edge.test(name)) return;
      const text = textOf(code);
      if (hasWords(text)) edges.add(text);
      inEdge = false;
    },
    text(piece) {
      if (inEdge) code += piece;
    },
  };
}

/**
 * Matches `&"Arial,Bold"`, `&12`, `&K0070C0`, `&K01+000`, `&P+1` and single letters, of which L, C and R begin a part.
 */
const codes = /&(?:"[^"]*"|\d{1,3}|K(?:[0-9A-F]{6}|\d\d[+-]\d{3})|[PN][+-]\d{1,5}|&|[A-Z])/gi;

const textOf = (code: string): string =>
  code
    .replace(codes, (found) => (found === "&&" ? "&" : /^&[LCR]$/i.test(found) ? " " : ""))
    .replace(/\s+/g, " ")
    .trim();
