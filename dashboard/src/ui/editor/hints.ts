import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { jsonLanguage } from "@codemirror/lang-json";
import { syntaxTree } from "@codemirror/language";
import { type Diagnostic, linter } from "@codemirror/lint";
import type { Extension } from "@codemirror/state";
import { type EditorView, hoverTooltip } from "@codemirror/view";
import { readJson } from "../../lib/json-text.ts";
import {
  type AnySchema,
  descriptionAt,
  type JsonPath,
  propertiesAt,
  schemasAt,
  typeWords,
  valueFaults,
  valuesAt,
} from "../../lib/schema-walk.ts";
import { visibleText } from "../../lib/visible-text.ts";
import { namesBeside, pathOf, placeAt, rangeOf } from "./json-place.ts";

/** A schema, or a loader that runs on first use. */
export type SchemaSource = AnySchema | (() => Promise<AnySchema | null>);

/** Completion, descriptions and validation from a schema for a JSON text. */
export function schemaHints(source: SchemaSource): Extension {
  let schemaPromise: Promise<AnySchema | null> | undefined;
  const schemaOf = () => {
    schemaPromise ??= typeof source === "function" ? source().catch(() => null) : Promise.resolve(source);
    return schemaPromise;
  };
  return [
    jsonLanguage.data.of({
      autocomplete: async (context: CompletionContext) => complete(await schemaOf(), context),
    }),
    hoverTooltip(async (view, at) => {
      const schema = await schemaOf();
      const node = syntaxTree(view.state).resolveInner(at, 1);
      if (!schema || ["JsonText", "Object", "Array"].includes(node.name)) return null;
      const tooltipWords = wordsOf(schema, pathOf(view.state, node));
      return (
        tooltipWords && { pos: node.from, end: node.to, above: true, create: () => ({ dom: tooltip(tooltipWords) }) }
      );
    }),
    linter(async (view) => lintSchema(view, await schemaOf())),
  ];
}

async function lintSchema({ state }: EditorView, schema: AnySchema | null): Promise<Diagnostic[]> {
  const { value, fault } = readJson(state.doc.toString());
  if (!schema || fault !== null) return [];
  return valueFaults(schema, value).map(({ path, message }) => ({
    ...rangeOf(state, path),
    severity: "warning",
    message,
  }));
}

interface Words {
  name: string;
  type: string;
  about: string | undefined;
}

function wordsOf(schema: AnySchema, path: JsonPath): Words | null {
  const schemas = schemasAt(schema, path);
  const words = { name: String(path.at(-1) ?? ""), type: typeWords(schemas), about: descriptionAt(schema, path) };
  return words.type || words.about ? words : null;
}

function tooltip({ name, type, about }: Words): HTMLElement {
  const box = document.createElement("div");
  box.className = "cm-schema-hint";
  const head = document.createElement("code");
  head.textContent = visibleText([name, type].filter(Boolean).join(": "));
  box.append(head);
  if (about) {
    const text = document.createElement("div");
    text.textContent = visibleText(about);
    box.append(text);
  }
  return box;
}

function complete(schema: AnySchema | null, context: CompletionContext): CompletionResult | null {
  const place = schema && placeAt(context.state, context.pos);
  if (!place) return null;
  // Nothing is typed here yet: complete only on request.
  if (place.from === place.to && !context.explicit) return null;
  const { path, from, to } = place;
  const isName = place.kind === "name";
  const options = isName ? nameOptions(schema, path, context) : valueOptions(schema, path);
  return options.length > 0 ? { from, to, options, filter: true } : null;
}

function nameOptions(schema: AnySchema, path: JsonPath, { state, pos }: CompletionContext): Completion[] {
  const existingNames = namesBeside(state, pos);
  return propertiesAt(schema, path)
    .filter(({ name }) => !existingNames.includes(name))
    .map(({ name, isRequired }) => {
      const inner = [...path, name];
      const words = wordsOf(schema, inner);
      return {
        label: JSON.stringify(name),
        type: "property",
        detail: [words?.type, isRequired && "required"].filter(Boolean).join(", "),
        boost: isRequired ? 1 : 0,
        ...(words?.about && { info: words.about }),
        apply: (view: EditorView, _: Completion, from: number, to: number) => {
          const hasColon = /^\s*:/.test(view.state.sliceDoc(to, to + 20));
          const stub = hasColon ? "" : `: ${stubOf(schemasAt(schema, inner))}`;
          const insert = JSON.stringify(name) + stub;
          // Puts the caret between inserted quotes or brackets.
          const caret = from + insert.length - (/(""|\{\}|\[\])$/.test(stub) ? 1 : 0);
          view.dispatch({ changes: { from, to, insert }, selection: { anchor: caret }, userEvent: "input.complete" });
        },
      };
    });
}

function stubOf(schemas: readonly AnySchema[]): string {
  if (schemas.some(({ enum: values }) => Array.isArray(values))) return "";
  const stubs: Record<string, string> = { string: '""', object: "{}", array: "[]" };
  return stubs[typeWords(schemas)] ?? "";
}

const valueOptions = (schema: AnySchema, path: JsonPath): Completion[] =>
  valuesAt(schema, path).map((value) => ({ label: JSON.stringify(value), type: "constant" }));
