import { expect, test } from "bun:test";
import { exampleScript } from "./test-model.ts";

const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

test("the example script calls each tool with matching arguments, then answers", () => {
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

test("the example script of an agent without tools only answers", () => {
  expect(JSON.parse(exampleScript([]))).toMatchObject([{ text: "Here is my answer." }]);
});
