import { parseAst } from "vite";

/** A text that a source holds. */
export interface Text {
  /** In one line; what is put in at run time is “…”. */
  text: string;
  /** The attribute or property that it stands in, `jsx` between tags, else null. */
  name: string | null;
}

/**
 * All texts of a source that somebody may come to see: between tags, in attributes, in properties, in templates and as
 * arguments. A sentence with other tags in it is one text, and its parts are, too.
 */
export function textsOf(path: string, source: string): Text[] {
  const lang = path.endsWith("x") ? "tsx" : "ts";
  const texts = new Map<string, Text>();
  const add = (given: string, name: string | null) => {
    const text = given.replace(/\s+/g, " ").trim();
    if (/[\p{L}\d%]/u.test(text)) texts.set(`${name} ${text}`, { text, name });
  };
  visit(parseAst(source, { lang }, path) as unknown as Node, null, add);
  return [...texts.values()];
}

type Node = { type: string } & Record<string, unknown>;
type Add = (text: string, name: string | null) => void;

/** What nobody reads. */
const silent = ["className", "key", "id", "d", "viewBox", "href", "type", "role", "to", "htmlFor"];
/** What stands in a name's place keeps the name: `title={a ? "One" : "Two"}`. */
const passing = ["JSXExpressionContainer", "ConditionalExpression", "LogicalExpression", "ArrayExpression"];

function visit(node: Node, name: string | null, add: Add): void {
  switch (node.type) {
    case "ImportDeclaration":
    case "ExportAllDeclaration":
    case "ImportExpression":
      return;
    case "Literal":
      if (typeof node.value === "string") add(node.value, name);
      return;
    case "TemplateLiteral":
      add(templateOf(node), name);
      for (const each of node.expressions as Node[]) visit(each, name, add);
      return;
    case "JSXElement":
    case "JSXFragment":
      add(innerOf(node), "jsx");
      break;
    case "JSXText":
      add(String(node.value), "jsx");
      return;
    case "JSXAttribute":
      visitNamed(nameOf(node.name as Node), node.value as Node | null, add);
      return;
    case "Property":
      if (node.computed) visit(node.key as Node, null, add);
      visitNamed(nameOf(node.key as Node), node.value as Node, add);
      return;
    case "TSAsExpression":
    case "TSSatisfiesExpression":
    case "TSNonNullExpression":
      visit(node.expression as Node, name, add);
      return;
  }
  if (node.type.startsWith("TS")) return; // Types are no texts.
  for (const child of childrenOf(node)) visit(child, passing.includes(node.type) ? name : null, add);
}

function visitNamed(name: string, value: Node | null, add: Add): void {
  if (value && !silent.includes(name)) visit(value, name, add);
}

const nameOf = (node: Node): string => String(node.name ?? node.value ?? "");

const childrenOf = (node: Node): Node[] =>
  Object.values(node)
    .flat()
    .filter((value): value is Node => typeof value === "object" && value !== null && "type" in value);

const templateOf = (node: Node): string =>
  (node.quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join("…");

/** What an element says, with all that is in it. */
function innerOf(node: Node): string {
  if (node.type === "JSXText") return String(node.value);
  if (node.type !== "JSXElement" && node.type !== "JSXFragment") return expressionOf(node);
  return (node.children as Node[]).map(innerOf).join("");
}

function expressionOf(node: Node): string {
  const inner = node.expression as Node | undefined;
  if (inner?.type === "Literal" && typeof inner.value === "string") return inner.value;
  return inner?.type === "TemplateLiteral" ? templateOf(inner) : "…";
}
