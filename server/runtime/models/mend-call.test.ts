import { expect, test } from "bun:test";
import { mendCall } from "./mend-call.ts";

const names = ["look", "get_weather", "get-time", "a.b"];
const nameOf = (name: string) => mendCall({ name, arguments: "{}" }, names)[0]!.name;
const argumentsOf = (text: string) => mendCall({ name: "look", arguments: text }, names)[0]!.arguments;

test.each([
  ["look", "look"],
  ["a.b", "a.b"],
  ["functions.look", "look"],
  ["tools/look", "look"],
  ["functions.look:0", "look"],
  ["look<|channel|>commentary", "look"],
  ["look<|constrain|>json", "look"],
  [" look\n", "look"],
  ["`look`", "look"],
  ["look()", "look"],
  ["Get_Weather", "get_weather"],
  ["get-weather", "get_weather"],
  ["get_time", "get-time"],
])("the name %j means %s", (given, name) => {
  expect(nameOf(given)).toBe(name);
});

test.each(["sing", "lookup", "functions.", "", "<|channel|>", `look${" ".repeat(100_000)}x`])(
  "a name that no tool has stays as it is",
  (name) => {
    expect(nameOf(name)).toBe(name);
  },
);

test("a name in another case that two tools share stays as it is", () => {
  expect(mendCall({ name: "LOOK", arguments: "{}" }, ["look", "Look"])).toEqual([{ name: "LOOK", arguments: "{}" }]);
});

test.each([
  ['{"a": 1}', '{"a": 1}'],
  [" ", "{}"],
  ["null", "{}"],
  ["None", "{}"],
  ["[]", "{}"],
  ['"{\\"a\\":1}"', '{"a":1}'],
  ['```\n{"a":1}\n```', '{"a":1}'],
  ['{"a":[1,2,],}', '{"a":[1,2]}'],
  ['{"a":"x,}\ny"}', '{"a":"x,}\\ny"}'],
  ['{"a":1}\n{"a":1}', '{"a":1}'],
  ['{}{"a":1}', '{"a":1}'],
])("the arguments %j mean %s", (given, args) => {
  expect(argumentsOf(given)).toBe(args);
});

test.each([
  '{"a":1}{"a":2}',
  '{"a":',
  "[1]",
  "7",
  '"words"',
  "{'a': 1}",
  '{"a":1}}',
  '{"a" 1}',
  ",".repeat(60_000),
  '"'.repeat(60_001),
])("arguments with no meaning, or several, stay as they are", (text) => {
  expect(argumentsOf(text)).toBe(text);
});

test("a wrapper is opened only if each of its tools exists", () => {
  const wrapped = (...recipients: string[]) => ({
    name: "multi_tool_use.parallel",
    arguments: JSON.stringify({ tool_uses: recipients.map((recipient_name) => ({ recipient_name, parameters: {} })) }),
  });
  expect(mendCall(wrapped("functions.look", "look"), names)).toHaveLength(2);
  const unknown = wrapped("functions.look", "sing");
  expect(mendCall(unknown, names)).toEqual([unknown]);
  expect(mendCall(wrapped(), names)).toEqual([wrapped()]);
});
