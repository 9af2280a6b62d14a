import type { PlannedScheme } from "../../domain/openapi-import.ts";
import { isObject } from "../../lib/json.ts";
import { cutText } from "./cut-text.ts";
import type { Fields } from "./read-document.ts";
import { dereference, itemsIn, membersIn, textIn } from "./references.ts";

const schemesMost = 50;
const alternativesMost = 20;

/** Security schemes of a document. One that cannot be read is of the type `other`. */
export function readSchemes(document: Fields): PlannedScheme[] {
  const components = isObject(document.components) ? document.components : {};
  return membersIn(components, "securitySchemes")
    .slice(0, schemesMost)
    .map(([name, value]) => ({ name: name.slice(0, 128), ...schemeOf(document, value) }));
}

function schemeOf(document: Fields, value: unknown): Omit<PlannedScheme, "name"> {
  const none = { in: null, parameter: null };
  try {
    const scheme = dereference(document, value, "security scheme");
    const description = cutText(textIn(scheme, "description"), 300);
    const [type, http] = [textIn(scheme, "type"), textIn(scheme, "scheme").toLowerCase()];
    if (type === "http" && (http === "bearer" || http === "basic")) return { type: http, ...none, description };
    if (type === "oauth2") return { type: "oauth2", ...none, description };
    if (type === "openIdConnect") return { type: "openid_connect", ...none, description };
    const place = textIn(scheme, "in");
    const parameter = textIn(scheme, "name").slice(0, 128);
    if (type === "apiKey" && (place === "header" || place === "query" || place === "cookie") && parameter !== "")
      return { type: "api_key", in: place, parameter, description };
    return { type: "other", ...none, description };
  } catch {
    return { type: "other", ...none, description: "" };
  }
}

/** Alternatives of an operation: its own, or those of the document. */
export function readSecurity(document: Fields, operation: Fields): string[][] {
  const source = Array.isArray(operation.security) ? operation : document;
  return itemsIn(source, "security")
    .filter(isObject)
    .slice(0, alternativesMost)
    .map((alternative) => Object.keys(alternative).map((name) => name.slice(0, 128)));
}
