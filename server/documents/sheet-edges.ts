import { saysMore } from "./page-edges.ts";
import type { XmlListener } from "./xml.ts";

/** Whether an element of a sheet is a head or a foot of its printed pages: of the first, the even or the other ones. */
const edge = /^(?:odd|even|first)(?:Header|Footer)$/;

/**
 * The heads and feet of a sheet's printed pages, each text once. What `&` begins is put there by the program: numbers of
 * pages, the date, names of the file and the sheet, pictures, fonts, sizes and colours. None of it is text.
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
      if (saysMore(text)) edges.add(text);
      inEdge = false;
    },
    text(piece) {
      if (inEdge) code += piece;
    },
  };
}

/** `&"Arial,Bold"`, `&12`, `&K0070C0` or `&K01+000`, `&P+1`, and single letters, of which L, C and R begin a part. */
const codes = /&(?:"[^"]*"|\d{1,3}|K(?:[0-9A-F]{6}|\d\d[+-]\d{3})|[PN][+-]\d{1,5}|&|[A-Z])/gi;

const textOf = (code: string): string =>
  code
    .replace(codes, (found) => (found === "&&" ? "&" : /^&[LCR]$/i.test(found) ? " " : ""))
    .replace(/\s+/g, " ")
    .trim();
