import { syntaxTree } from "@codemirror/language";
import type { EditorState } from "@codemirror/state";
import type { SyntaxNode } from "@lezer/common";
import type { JsonPath } from "../../lib/schema-walk.ts";

/** Position of the caret in a possibly incomplete JSON text. */
interface JsonPlace {
  /** Path of the object for a property name, or of the value. */
  path: JsonPath;
  kind: "name" | "value";
  /** Start of the text that a completion replaces. */
  from: number;
  to: number;
}

const literalNodes = new Set(["String", "Number", "True", "False", "Null"]);

/** Returns the kind of completion at a position: a property name or a value; null in between. */
export function placeAt(state: EditorState, at: number): JsonPlace | null {
  const node = syntaxTree(state).resolveInner(at, -1);
  if (node.name === "PropertyName") {
    const object = node.parent?.parent ?? null;
    return { path: pathOf(state, object), kind: "name", from: node.from, to: node.to };
  }
  if (literalNodes.has(node.name)) return { path: pathOf(state, node), kind: "value", from: node.from, to: node.to };
  const before = state.sliceDoc(0, at).trimEnd();
  const word = /["\w.-]*$/.exec(state.sliceDoc(Math.max(0, at - 100), at))?.[0] ?? "";
  const sign = before.slice(0, before.length - (before.endsWith(word) ? word.length : 0)).trimEnd();
  const from = at - word.length;
  const place = syntaxTree(state).resolveInner(sign.length, -1);
  const holder = enclosingNode(place);
  if (sign.endsWith(":")) return { path: pathOf(state, holder), kind: "value", from, to: at };
  if (holder?.name === "Array" && /[[,]$/.test(sign))
    return { path: [...pathOf(state, holder), itemsBefore(holder, at)], kind: "value", from, to: at };
  const object = holder?.name === "Property" ? holder.parent : holder;
  if (object?.name === "Object" && /[{,]$/.test(sign))
    return { path: pathOf(state, object), kind: "name", from, to: at };
  return sign === "" ? { path: [], kind: "value", from, to: at } : null;
}

function enclosingNode(node: SyntaxNode | null): SyntaxNode | null {
  let at = node;
  while (at && !["Object", "Array", "Property"].includes(at.name)) at = at.parent;
  return at;
}

const signs = new Set(["[", "]", "{", "}", ",", ":", "⚠"]);

function children(node: SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) if (!signs.has(child.name)) found.push(child);
  return found;
}

const itemsBefore = (list: SyntaxNode, at: number): number => children(list).filter(({ to }) => to < at).length;

/** Returns the path of a value or a property. */
export function pathOf(state: EditorState, node: SyntaxNode | null): JsonPath {
  if (!node?.parent) return [];
  const before = pathOf(state, node.parent);
  if (node.name === "Property") return [...before, nameOf(state, node)];
  if (node.parent.name !== "Array" || signs.has(node.name)) return before;
  return [...before, itemsBefore(node.parent, node.from)];
}

function nameOf(state: EditorState, property: SyntaxNode): string {
  const name = property.getChild("PropertyName");
  const text = name ? state.sliceDoc(name.from, name.to) : "";
  try {
    return String(JSON.parse(text));
  } catch {
    return text.replaceAll('"', "");
  }
}

/** Returns the existing property names of the object at a position. */
export function namesBeside(state: EditorState, at: number): string[] {
  let node: SyntaxNode | null = syntaxTree(state).resolveInner(at, -1);
  while (node && node.name !== "Object") node = node.parent;
  return node ? node.getChildren("Property").map((property) => nameOf(state, property)) : [];
}

/**
 * Returns the range of the value at a path: for an object or list, its opening bracket; for an unknown property, its
 * name.
 */
export function rangeOf(state: EditorState, path: JsonPath): { from: number; to: number } {
  let node = syntaxTree(state).topNode.firstChild;
  let last = node;
  for (const key of path) {
    last = null;
    if (node && typeof key === "number") last = children(node)[key] ?? null;
    else if (node) last = node.getChildren("Property").find((property) => nameOf(state, property) === key) ?? null;
    if (!last) break;
    node = last.name === "Property" ? last.lastChild : last;
  }
  const place = last?.name === "Property" ? (last.getChild("PropertyName") ?? last) : (last ?? node);
  if (!place) return { from: 0, to: state.doc.length };
  return { from: place.from, to: ["Object", "Array"].includes(place.name) ? place.from + 1 : place.to };
}
