import { SaxesParser } from "saxes";
import { declaredInXml } from "./declared-encoding.ts";
import { decodeText } from "./decode.ts";
import { DocumentError, unreadable } from "./document-error.ts";

/** Receives the events of an XML document. Names have no prefix; the prefix is passed separately. */
export interface XmlListener {
  open?(name: string, attributes: Attributes, prefix: string): void;
  close?(name: string, prefix: string): void;
  text?(text: string): void;
}

/** Returns the value of an attribute, or null; with `prefixed`, only of an attribute with a prefix. */
export type Attributes = (name: string, prefixed?: boolean) => string | null;

/** Passes the events of a part to a listener. */
export type PartReader = (listener: XmlListener) => void;

const depthLimit = 500;

/** Parses XML. Throws on a document type, so only the five predefined entities exist. */
export function readXml(bytes: Uint8Array, listener: XmlListener): void {
  const parser = new SaxesParser({ position: false, xmlns: false });
  let depth = 0;
  parser.on("opentag", ({ name, attributes }) => {
    if (++depth > depthLimit) throw unreadable("A part of it nests too deep.");
    listener.open?.(localName(name), attributesOf(attributes), prefixOf(name));
  });
  parser.on("closetag", ({ name }) => {
    depth--;
    listener.close?.(localName(name), prefixOf(name));
  });
  const onText = (text: string) => listener.text?.(text);
  parser.on("text", onText);
  parser.on("cdata", onText);
  parser.on("doctype", () => {
    throw unreadable("A part of it declares a document type, which none may.");
  });
  try {
    parser.write(decodeText(bytes, declaredInXml(bytes))).close();
  } catch (error) {
    if (error instanceof DocumentError) throw error;
    throw unreadable("A part of it is not XML, or ends early.");
  }
}

/** Combines listeners, so that a part is parsed once for all of them. */
export const combineListeners = (...listeners: readonly XmlListener[]): XmlListener => ({
  open(...given) {
    for (const { open } of listeners) open?.(...given);
  },
  close(...given) {
    for (const { close } of listeners) close?.(...given);
  },
  text(given) {
    for (const { text } of listeners) text?.(given);
  },
});

const localName = (name: string): string => name.slice(name.indexOf(":") + 1);

const prefixOf = (name: string): string => name.slice(0, Math.max(0, name.indexOf(":")));

const attributesOf =
  (given: Readonly<Record<string, string>>): Attributes =>
  (name, prefixed = false) => {
    const found = Object.keys(given).find((key) => (!prefixed && key === name) || key.endsWith(`:${name}`));
    return found === undefined ? null : (given[found] ?? null);
  };
