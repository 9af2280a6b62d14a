import { expect, test } from "bun:test";
import { json } from "@codemirror/lang-json";
import { ensureSyntaxTree } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { namesBeside, placeAt, rangeOf } from "./json-place.ts";

/** Creates a state from a text in which `|` is the caret. */
function at(marked: string): { state: EditorState; pos: number } {
  const pos = marked.indexOf("|");
  const state = EditorState.create({ doc: marked.replace("|", ""), extensions: json() });
  ensureSyntaxTree(state, state.doc.length, 60_000); // Explicit timeout, because by default parsing stops after 50 ms.
  return { state: state.update({}).state, pos }; // A state keeps the syntax tree it was created with.
}

test.each([
  ['{"na|"}', "name", []],
  ['{"a": {"b": 1, "|"}}', "name", ["a"]],
  ['{"a": {"b": 1, |}}', "name", ["a"]],
  ["{|}", "name", []],
  ['{"a": "x|"}', "value", ["a"]],
  ['{"a": |}', "value", ["a"]],
  ['{"a": tr|}', "value", ["a"]],
  ['{"a": [1, "x|"]}', "value", ["a", 1]],
  ['{"a": [{"b": "|"}]}', "value", ["a", 0, "b"]],
  ['[{"type": "pii"}, {"|"}]', "name", [1]],
  ["[|]", "value", [0]],
  ["|", "value", []],
] as const)("the kind and path of the value to write at %s are known", (marked, kind, path) => {
  const { state, pos } = at(marked);
  expect(placeAt(state, pos)).toMatchObject({ kind, path });
});

test("nothing is suggested between a value and a comma", () => {
  const { state, pos } = at('{"a": 1 |, "b": 2}');
  expect(placeAt(state, pos)).toBeNull();
});

test("existing names of an object are known", () => {
  const { state, pos } = at('{"a": 1, "b": {"c": 1, "|"}}');
  expect(namesBeside(state, pos)).toEqual(["c", ""]);
});

test("a path leads to an object's opening bracket, to a value, or to an unknown property's name", () => {
  const { state } = at('{"a": [{"b": 12}], "c": true}|');
  const textAt = (path: (string | number)[]) => {
    const { from, to } = rangeOf(state, path);
    return state.sliceDoc(from, to);
  };
  expect([[], ["a"], ["a", 0], ["c"]].map(textAt)).toEqual(["{", '"a"', "{", '"c"']);
  expect(textAt(["a", 0, "b"])).toBe('"b"');
  expect(textAt(["a", 7])).toBe("[");
});
