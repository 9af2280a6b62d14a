import { isObject } from "../../lib/json.ts";
import { resolvePointer } from "../../lib/schema-graph.ts";
import { OperationRefused } from "./document-error.ts";
import type { Fields } from "./read-document.ts";

const chainMost = 32;

/** Returns the value that a reference of the document names. Nothing outside of the document is ever read. */
export function lookUp(document: Fields, reference: unknown): unknown {
  if (typeof reference !== "string") throw new OperationRefused("broken_reference", "A $ref in it is not a text.");
  const shown = JSON.stringify(reference.slice(0, 200));
  if (!reference.startsWith("#"))
    throw new OperationRefused(
      "external_reference",
      `It refers to another document, ${shown}, which is not read: put all into one document.`,
    );
  let pointer = reference.slice(1);
  try {
    pointer = decodeURIComponent(pointer);
  } catch {
    // Not encoded as in a URL: taken as it is.
  }
  const found = pointer === "" || pointer.startsWith("/") ? resolvePointer(document, pointer) : undefined;
  if (found === undefined)
    throw new OperationRefused("broken_reference", `It refers to ${shown}, which is not in the document.`);
  return found;
}

/** Returns the object itself, or the one that its references lead to. Throws for one that is no object. */
export function dereference(document: Fields, value: unknown, what: string): Fields {
  let found = value;
  for (let count = 0; isObject(found) && "$ref" in found; count++) {
    if (count === chainMost) throw new OperationRefused("broken_reference", `A $ref of its ${what} leads to itself.`);
    found = lookUp(document, found.$ref);
  }
  if (!isObject(found)) throw new OperationRefused("operation_invalid", `Its ${what} is no object.`);
  return found;
}

export const textIn = (fields: Fields, name: string): string => {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return typeof value === "string" ? value.toWellFormed() : "";
};

/** Items of a list; empty if it is none. */
export const itemsIn = (fields: Fields, name: string): unknown[] => {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return Array.isArray(value) ? value : [];
};

/** Members of an object; empty if it is none. Names that could reach a prototype are left out. */
export const membersIn = (fields: Fields, name: string): [string, unknown][] => {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return isObject(value) ? Object.entries(value).filter(([key]) => !isDangerous(key)) : [];
};

export const isDangerous = (name: string): boolean => ["__proto__", "constructor", "prototype"].includes(name);
