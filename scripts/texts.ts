import { parseAst } from "vite";

/** A text that a source holds. */
export interface Text {
  /** In one line; what is put in at run time is “…”. */
  text: string;
  /** The attribute or property that it stands in, `jsx` between tags, else null. */
  name: string | null;
}

/**
 * All texts of a source that somebody may come to see: between tags, in attributes, as names and values of properties, in
 * templates and as arguments. A sentence with other tags in it is one text, and its parts are, too; one that is said in
 * several ways, `{isOld ? "Old" : "New"} key`, is a text for each.
 */
export function textsOf(path: string, source: string): Text[] {
  const lang = path.endsWith("x") ? "tsx" : "ts";
  const texts = new Map<string, Text>();
  const add = (given: string, name: string | null) => {
    const text = decoded(given).replace(/\s+/g, " ").trim();
    if (/[\p{L}\d%]/u.test(text)) texts.set(`${name} ${text}`, { text, name });
  };
  visit(parseAst(source, { lang }, path) as unknown as Node, null, add);
  return [...texts.values()];
}

/** A character may be written by its name or number. */
const decoded = (text: string): string =>
  text
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replace(/&(nbsp|amp|lt|gt|quot|apos);/g, (_, name: keyof typeof characters) => characters[name]);
const characters = { nbsp: " ", amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

type Node = { type: string } & Record<string, unknown>;
type Add = (text: string, name: string | null) => void;

/** Attributes that nobody reads. */
const silent = ["className", "key", "id", "d", "viewBox", "href", "type", "role", "to", "htmlFor"];
/** What stands in a name's place keeps the name: `title={a ? "One" : "Two"}`. */
const passing = ["JSXExpressionContainer", "ConditionalExpression", "LogicalExpression", "ArrayExpression"];

function visit(node: Node, name: string | null, add: Add): void {
  const say = (name: string | null) => {
    for (const text of textsIn(node)) add(text, name);
  };
  switch (node.type) {
    case "ImportDeclaration":
    case "ExportAllDeclaration":
    case "ImportExpression":
      return;
    case "Literal":
    case "JSXText":
      say(node.type === "JSXText" ? "jsx" : name);
      return;
    case "TemplateLiteral":
      say(name);
      for (const each of node.expressions as Node[]) visit(each, name, add);
      return;
    case "BinaryExpression":
      if (node.operator === "+") say(name);
      break;
    case "JSXElement":
    case "JSXFragment":
      say("jsx");
      break;
    case "JSXExpressionContainer":
      visit(node.expression as Node, name ?? "jsx", add);
      return;
    case "JSXAttribute":
      if (node.value && !silent.includes(nameOf(node.name as Node)))
        visit(node.value as Node, nameOf(node.name as Node), add);
      return;
    case "VariableDeclarator":
      visit(node.id as Node, null, add);
      if (node.init) visit(node.init as Node, nameOf(node.id as Node), add);
      return;
    case "AssignmentPattern":
      visit(node.left as Node, null, add);
      visit(node.right as Node, nameOf(node.left as Node), add);
      return;
    case "ArrowFunctionExpression":
      for (const each of node.params as Node[]) visit(each, null, add);
      visit(node.body as Node, "returned", add);
      return;
    case "ReturnStatement":
      if (node.argument) visit(node.argument as Node, "returned", add);
      return;
    case "CallExpression":
    case "NewExpression":
      visit(node.callee as Node, null, add);
      for (const each of node.arguments as Node[]) visit(each, "given", add);
      return;
    case "Property": {
      const key = nameOf(node.key as Node);
      if (node.computed) visit(node.key as Node, null, add);
      else add(key, "key");
      visit(node.value as Node, key, add);
      return;
    }
    case "TSAsExpression":
    case "TSSatisfiesExpression":
    case "TSNonNullExpression":
      visit(node.expression as Node, name, add);
      return;
  }
  if (node.type.startsWith("TS") && !isCode(node)) return; // Types are no texts.
  for (const child of childrenOf(node)) visit(child, passing.includes(node.type) ? name : null, add);
}

/** TypeScript of which something is left when types are gone. */
const isCode = ({ type }: Node): boolean =>
  /^TS(Enum\w+|Module\w+|ParameterProperty|TypeAssertion|InstantiationExpression)$/.test(type);

const nameOf = (node: Node): string => String(node.name ?? node.value ?? "");

const childrenOf = (node: Node): Node[] =>
  Object.values(node)
    .flat()
    .filter((value): value is Node => typeof value === "object" && value !== null && "type" in value);

/** So many ways to say a sentence are looked at. */
const mostWays = 32;

/** What a node says, in each way that it may come out. */
function textsIn(node: Node): string[] {
  switch (node.type) {
    case "Literal":
      return typeof node.value === "string" ? [node.value] : ["…"];
    case "JSXText":
      return [String(node.value)];
    case "JSXElement":
      return isBreak(node) ? [" "] : joined((node.children as Node[]).map(textsIn));
    case "JSXFragment":
      return joined((node.children as Node[]).map(textsIn));
    case "JSXExpressionContainer":
      return textsIn(node.expression as Node);
    case "JSXEmptyExpression":
      return [""];
    case "ConditionalExpression":
      return [...textsIn(node.consequent as Node), ...textsIn(node.alternate as Node)];
    case "LogicalExpression":
      return [...(node.operator === "&&" ? [""] : textsIn(node.left as Node)), ...textsIn(node.right as Node)];
    case "BinaryExpression":
      return node.operator === "+" ? joined([textsIn(node.left as Node), textsIn(node.right as Node)]) : ["…"];
    case "TemplateLiteral": {
      const expressions = (node.expressions as Node[]).map(textsIn);
      const quasis = (node.quasis as { value: { cooked: string } }[]).map(({ value }) => [value.cooked]);
      return joined(quasis.flatMap((quasi, index) => [quasi, expressions[index] ?? [""]]));
    }
  }
  return ["…"];
}

const joined = (parts: readonly (readonly string[])[]): string[] =>
  parts.reduce<string[]>((all, part) => all.flatMap((one) => part.map((more) => one + more)).slice(0, mostWays), [""]);

const isBreak = ({ openingElement }: Node): boolean => nameOf((openingElement as Node).name as Node) === "br";
