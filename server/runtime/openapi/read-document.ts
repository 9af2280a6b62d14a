import { type Document, isScalar, isSeq, parseDocument, visit } from "yaml";
import { isObject } from "../../lib/json.ts";
import { isShallow, isShallowValue } from "../../lib/json-limits.ts";
import { DocumentError } from "./document-error.ts";

const depthMost = 200;
/** Aliases of a YAML document, counted as often as they are resolved: a small text could become a large value. */
const aliasesMost = 1000;

export type Fields = Record<string, unknown>;

/** Reads a document in JSON or YAML. Throws `DocumentError`. Use it in a jailed process only: a document is untrusted. */
export function readDocument(bytes: Uint8Array): Fields {
  const text = textOf(bytes);
  const start = text.trimStart();
  if (start === "") throw new DocumentError("The document is empty.");
  if (start.startsWith("<")) throw new DocumentError("This is an HTML or XML page, not an OpenAPI document.");
  const value = start.startsWith("{") ? readJson(bytes, text) : readYaml(text);
  if (!isObject(value)) throw new DocumentError("The document is not an object.");
  return value;
}

function textOf(bytes: Uint8Array): string {
  const isUtf16 = /^(fffe|feff)/.test(bytes.subarray(0, 2).toHex());
  if (isUtf16) throw new DocumentError("The document is in UTF-16. Save it as UTF-8.");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new DocumentError("The document is not a text in UTF-8.");
  }
}

const tooDeep = () => new DocumentError(`The document nests deeper than ${depthMost}.`);

function readJson(bytes: Uint8Array, text: string): unknown {
  if (!isShallow(bytes, depthMost)) throw tooDeep();
  try {
    return JSON.parse(text);
  } catch (error) {
    // In YAML, an object in braces needs no quotes.
    if (text.length < 1024 * 1024 && !/^\s*\{\s*"/.test(text)) return readYaml(text);
    throw new DocumentError(`The document is not valid JSON: ${messageOf(error)}`);
  }
}

/** Openings of more levels than a document may have, in a row: the parser needs minutes for them. */
const deepYaml = new RegExp(`(?:[[{]\\s*){${depthMost},}[[{]|(?:- ){${depthMost},}`);

function readYaml(text: string): unknown {
  if (deepYaml.test(text)) throw tooDeep();
  try {
    const document = parseDocument(text, { merge: true, prettyErrors: false, logLevel: "error", uniqueKeys: true });
    const [problem] = document.errors;
    if (problem) {
      const line = text.slice(0, problem.pos[0]).split("\n").length;
      const message = problem.code === "DUPLICATE_KEY" ? "a key is in it twice" : problem.message.replace(/\.$/, "");
      if (/call stack/.test(message)) throw tooDeep();
      throw new DocumentError(`The document is not valid YAML: ${message.slice(0, 200)} (line ${line}).`);
    }
    keepTexts(document);
    const value = document.toJS({ maxAliasCount: aliasesMost });
    if (!isShallowValue(value, depthMost)) throw tooDeep();
    return value;
  } catch (error) {
    if (error instanceof DocumentError) throw error;
    if (error instanceof RangeError) throw tooDeep();
    if (error instanceof ReferenceError) throw new DocumentError("The document repeats its aliases (*) too often.");
    throw new DocumentError(`The document is not valid YAML: ${messageOf(error)}`);
  }
}

/** Values of text schemas stay as they are written: without quotes, YAML takes 1.0 or 012 for numbers. */
function keepTexts(document: Document): void {
  visit(document, {
    Map(_, schema) {
      const type = schema.get("type");
      const types = isSeq(type) ? type.items.map((each) => (isScalar(each) ? each.value : each)) : [type];
      if (!types.includes("string") || types.some((each) => each !== "string" && each !== "null")) return;
      const choices = schema.get("enum");
      for (const value of [...(isSeq(choices) ? choices.items : []), schema.get("default", true)])
        if (isScalar(value) && /number|boolean/.test(typeof value.value) && value.source !== undefined)
          value.value = value.source;
    },
  });
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 200);
