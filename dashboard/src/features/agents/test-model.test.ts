import { expect, test } from "bun:test";
import { exampleScript } from "./test-model.ts";

const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

test("an example of a script calls each tool with arguments that fit, and then answers", () => {
  expect(JSON.parse(exampleScript([{ name: "get_weather", parameters }, { name: "ping" }]))).toMatchObject([
    {
      tool_calls: [
        { name: "get_weather", arguments: { city: "text" } },
        { name: "ping", arguments: {} },
      ],
    },
    { text: "Here is my answer." },
  ]);
});

test("without tools it only answers", () => {
  expect(JSON.parse(exampleScript([]))).toMatchObject([{ text: "Here is my answer." }]);
});
