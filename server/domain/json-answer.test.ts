import { expect, test } from "bun:test";
import { isCutJson, jsonAnswer } from "./json-answer.ts";

const json = '{"topic":"x"}';

test.each([
  ["the whole text", json],
  ["a code block", `\`\`\`json\n${json}\n\`\`\``],
  ["a code block without a language, between words", `Here:\n\`\`\`\n${json}\n\`\`\`\nDone.`],
  ["words before it", `Here you are: ${json}`],
  ["words around it", `Sure.\n\n${json}\n\nAnything else?`],
])("JSON is found in %s", (_, text) => {
  expect(jsonAnswer(text)).toBe(json);
});

test.each([
  ["words alone", "It is about x."],
  ["two objects", `${json} or ${json}`],
  ["two code blocks", `\`\`\`json\n${json}\n\`\`\`\n\`\`\`json\n${json}\n\`\`\``],
  ["JSON that breaks off", '{"topic":"x'],
  ["a code block that breaks off", '```json\n{"topic":"x'],
  ["brackets in words", "I [may] say so."],
  ["nothing", ""],
])("no JSON is taken from %s", (_, text) => {
  expect(jsonAnswer(text)).toBeNull();
});

test("JSON that breaks off is recognized", () => {
  expect(['{"topic":"x', '[{"a":1},', json, "Words"].map(isCutJson)).toEqual([true, true, false, false]);
});
