import { decodeText } from "./decode.ts";
import { unreadable } from "./document-error.ts";

/** What is told of XML, in its order. Names come without their prefix. */
export interface XmlListener {
  open?(name: string, attributes: Attributes): void;
  close?(name: string): void;
  text?(text: string): void;
}

/** The value of an attribute; of `prefixed` ones only those whose name has a prefix. */
export type Attributes = (name: string, prefixed?: boolean) => string | null;

const depthLimit = 500;

/** Reads XML from its start to its end. No document type, so no entity but the five that every XML has. */
export function readXml(bytes: Uint8Array, listener: XmlListener): void {
  const xml = decodeText(bytes);
  let depth = 0;
  for (let at = 0; at < xml.length; ) {
    const start = xml.indexOf("<", at);
    if (start !== at) listener.text?.(plain(xml.slice(at, start < 0 ? xml.length : start)));
    if (start < 0) break;
    if (xml.startsWith("<!--", start)) at = behind(xml, "-->", start);
    else if (xml.startsWith("<?", start)) at = behind(xml, "?>", start);
    else if (xml.startsWith("<![CDATA[", start)) {
      at = behind(xml, "]]>", start);
      listener.text?.(xml.slice(start + 9, at - 3));
    } else if (xml.startsWith("<!", start)) throw unreadable("A part of it declares a document type, which none may.");
    else {
      at = endOfTag(xml, start);
      depth += tell(xml.slice(start + 1, at - 1), listener);
      if (depth > depthLimit) throw unreadable("A part of it nests too deep.");
    }
  }
  if (depth !== 0) throw unreadable("A part of it ends early.");
}

/** How much deeper it is behind the tag. */
function tell(tag: string, listener: XmlListener): number {
  if (tag.startsWith("/")) {
    listener.close?.(localName(tag.slice(1)));
    return -1;
  }
  const name = localName(tag);
  listener.open?.(name, attributesOf(tag));
  if (!tag.endsWith("/")) return 1;
  listener.close?.(name);
  return 0;
}

function localName(tag: string): string {
  let [start, end] = [0, 0];
  for (; end < tag.length; end++) {
    const unit = tag.charCodeAt(end);
    if (unit <= 32 || unit === slash) break;
    if (unit === colon && start === 0) start = end + 1;
  }
  return tag.slice(start, end);
}

const [slash, colon] = ["/", ":"].map((sign) => sign.charCodeAt(0)) as [number, number];

const attributesOf =
  (tag: string): Attributes =>
  (name, prefixed = false) => {
    const found = /\s/.test(tag) ? patternOf(name, prefixed).exec(tag) : null;
    return found ? plain(found[1] ?? found[2] ?? "") : null;
  };

const patterns = new Map<string, RegExp>();

/** Made once for each name that is asked for: a sheet has millions of cells. */
function patternOf(name: string, prefixed: boolean): RegExp {
  const key = prefixed ? `:${name}` : name;
  const known = patterns.get(key);
  if (known) return known;
  const prefix = prefixed ? "[\\w.-]+:" : "(?:[\\w.-]+:)?";
  const pattern = new RegExp(`\\s${prefix}${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`);
  patterns.set(key, pattern);
  return pattern;
}

function behind(xml: string, mark: string, from: number): number {
  const at = xml.indexOf(mark, from);
  if (at < 0) throw unreadable("A part of it ends early.");
  return at + mark.length;
}

const [close, double, single] = [">", '"', "'"].map((sign) => sign.charCodeAt(0)) as [number, number, number];

/** A value in quotes may hold the sign that ends a tag. */
function endOfTag(xml: string, start: number): number {
  let quote = 0;
  for (let at = start + 1; at < xml.length; at++) {
    const unit = xml.charCodeAt(at);
    if (quote !== 0) {
      if (unit === quote) quote = 0;
    } else if (unit === close) return at + 1;
    else if (unit === double || unit === single) quote = unit;
  }
  throw unreadable("A part of it ends early.");
}

const known: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function plain(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|(\w+));/g, (all, decimal, hex, name) => {
    if (name !== undefined) return known[name] ?? all;
    const point = decimal ? Number(decimal) : Number.parseInt(hex, 16);
    return point <= 0x10ffff ? String.fromCodePoint(point) : "\ufffd";
  });
}
