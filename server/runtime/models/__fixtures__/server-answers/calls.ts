import {
  calls,
  chunk,
  counts,
  delta,
  done,
  ending,
  event,
  finish,
  piece,
  type ServerAnswer,
  text,
  usage,
} from "./chunks.ts";

const oslo = '{"city":"Oslo"}';
const bergen = '{"city":"Bergen"}';
const both = [
  ["look", oslo],
  ["look", bergen],
] as const;
const different = [
  ["look", oslo],
  ["listen", bergen],
] as const;
const end = ending("tool_calls");
const a = { index: 0, id: "aaaaaaaaa" };
const b = { index: 1, id: "bbbbbbbbb" };
const lookOslo = [["look", oslo]] as const;

/** One call whose arguments arrive in one piece. */
const args = (title: string, name: string, given: unknown, expected: string, refused?: string): ServerAnswer => ({
  title,
  chunks: [calls(piece(a, name, given)), ...end],
  end: { calls: [[name, expected]], finish: "tool_calls", ...(refused && { refused }) },
});

/** One call with this name. */
const named = (title: string, name: string): ServerAnswer => ({
  title,
  chunks: [calls(piece(a, name, oslo)), ...end],
  end: { calls: lookOslo },
});

/** Shapes of tool calls. */
export const callAnswers: readonly ServerAnswer[] = [
  {
    title: "two calls at index 0 without ids, in two chunks",
    chunks: [calls(piece({ index: 0 }, "look", oslo)), calls(piece({ index: 0 }, "look", bergen)), ...end],
    end: { calls: both },
  },
  {
    title: "two calls at index 0 with null as their id, in one chunk",
    chunks: [calls(piece({ index: 0, id: null }, "look", oslo), piece({ index: 0, id: null }, "look", bergen)), ...end],
    end: { calls: both },
  },
  {
    title: "two calls at index 0 with empty ids and different names",
    chunks: [
      calls(piece({ index: 0, id: "" }, "look", oslo)),
      calls(piece({ index: 0, id: "" }, "listen", bergen)),
      ...end,
    ],
    end: { calls: different },
  },
  {
    title: "two equal calls at index 0 without ids are two calls",
    chunks: [calls(piece({ index: 0 }, "look", oslo)), calls(piece({ index: 0 }, "look", oslo)), ...end],
    end: { calls: [...lookOslo, ...lookOslo] },
  },
  {
    title: "pieces of two calls that alternate, without an index",
    chunks: [
      calls(piece({ id: "aaaaaaaaa" }, "look", "")),
      calls(piece({ id: "bbbbbbbbb" }, "look", "")),
      calls(piece({ id: "aaaaaaaaa" }, undefined, oslo)),
      calls(piece({ id: "bbbbbbbbb" }, undefined, bergen)),
      ...end,
    ],
    end: { calls: both },
  },
  {
    title: "the same id at two indexes",
    chunks: [
      calls(piece({ index: 0, id: "dup" }, "look", oslo), piece({ index: 1, id: "dup" }, "look", bergen)),
      ...end,
    ],
    end: { calls: both },
  },
  {
    title: "the same id twice without an index",
    chunks: [calls(piece({ id: "dup" }, "look", oslo)), calls(piece({ id: "dup" }, "look", bergen)), ...end],
    end: { calls: both },
  },
  {
    title: "the same id twice without an index, with different names in one chunk",
    chunks: [calls(piece({ id: "dup" }, "look", oslo), piece({ id: "dup" }, "listen", bergen)), ...end],
    end: { calls: different },
  },
  {
    title: "the same id twice at index 0",
    chunks: [
      calls(piece({ index: 0, id: "dup" }, "look", oslo)),
      calls(piece({ index: 0, id: "dup" }, "listen", bergen)),
      ...end,
    ],
    end: { calls: different },
  },
  {
    title: "indexes as text, with alternating pieces",
    chunks: [
      calls(piece({ index: "0", id: "aaaaaaaaa" }, "look", '{"city"')),
      calls(piece({ index: "1", id: "bbbbbbbbb" }, "look", '{"city"')),
      calls(piece({ index: "0" }, undefined, ':"Oslo"}')),
      calls(piece({ index: "1" }, undefined, ':"Bergen"}')),
      ...end,
    ],
    end: { calls: both },
  },
  {
    title: "indexes as text, one call after the other",
    chunks: [
      calls(piece({ index: "0", id: "aaaaaaaaa" }, "look", '{"city"')),
      calls(piece({ index: "0" }, undefined, ':"Oslo"}')),
      calls(piece({ index: "1", id: "bbbbbbbbb" }, "look", '{"city"')),
      calls(piece({ index: "1" }, undefined, ':"Bergen"}')),
      ...end,
    ],
    end: { calls: both },
  },
  {
    title: "null as index and id",
    chunks: [
      calls(piece({ index: null, id: null }, "look", oslo), piece({ index: null, id: null }, "look", bergen)),
      ...end,
    ],
    end: { calls: both },
  },
  args("arguments that are null", "now", null, "{}"),
  args("arguments that are the text null", "now", "null", "{}"),
  args("arguments that are missing", "now", undefined, "{}"),
  args("arguments that are two quotes", "now", '""', "{}"),
  args("arguments that are an empty list", "now", "[]", "{}"),
  args("arguments that are None", "now", "None", "{}"),
  args("arguments that are encoded twice", "look", JSON.stringify(oslo), oslo),
  args("arguments with a line break inside a text", "look", '{"city":"Oslo\nBergen"}', '{"city":"Oslo\\nBergen"}'),
  args("arguments with a comma after the last field", "look", '{"city":"Oslo",}', oslo),
  args("arguments in a code fence", "look", `\`\`\`json\n${oslo}\n\`\`\``, oslo),
  args("arguments that are written twice", "look", oslo + oslo, oslo),
  args("two different arguments in one call have two meanings", "look", oslo + bergen, oslo + bergen, "not valid JSON"),
  args("arguments that break off have no meaning", "look", '{"city":"Os', '{"city":"Os', "not valid JSON"),
  {
    title: "an empty object before the arguments",
    chunks: [calls(piece(a, "look", "{}")), calls(piece({ index: 0 }, undefined, oslo)), ...end],
    end: { calls: lookOslo },
  },
  {
    title: "arguments that begin as an empty object, not as text",
    chunks: [calls(piece(a, "look", {})), calls(piece({ index: 0 }, undefined, oslo)), ...end],
    end: { calls: lookOslo },
  },
  {
    title: "a surrogate pair in two pieces",
    chunks: [calls(piece(a, "look", '{"city":"\\ud83d')), calls(piece({ index: 0 }, undefined, '\\ude00"}')), ...end],
    end: { calls: [["look", '{"city":"\\ud83d\\ude00"}']] },
  },
  args("half of a surrogate pair", "look", '{"city":"x\\ud83dy"}', '{"city":"x\\ud83dy"}'),
  args("a zero character", "look", '{"city":"x\\u0000y"}', '{"city":"x\\u0000y"}'),
  args(
    "a field called __proto__",
    "look",
    '{"city":"x","__proto__":{"a":1}}',
    '{"city":"x","__proto__":{"a":1}}',
    "__proto__ is not allowed",
  ),
  args("a number with twenty digits", "num", '{"n":12345678901234567890}', '{"n":12345678901234567890}'),
  args("a number that no double can hold", "num", '{"n":1e400}', '{"n":1e400}'),
  {
    title: "calls that end with stop",
    chunks: [calls(piece(a, "look", oslo)), ...ending()],
    end: { calls: lookOslo, usage: { input_tokens: 20, output_tokens: 5 } },
  },
  {
    title: "a call cut off within its arguments",
    chunks: [calls(piece(a, "look", '{"ci')), ...ending("length")],
    end: { calls: [["look", '{"ci']], finish: "length" },
  },
  {
    title: "a call cut off before its arguments",
    chunks: [calls(piece(a, "wipe", "")), ...ending("length")],
    end: { calls: [["wipe", "{}"]], finish: "length" },
  },
  {
    title: "a whole call before one that is cut off",
    chunks: [calls(piece(a, "look", oslo), piece(b, "wipe", "")), ...ending("length")],
    end: { calls: [...lookOslo, ["wipe", "{}"]], finish: "length" },
  },
  named("a name with a channel token", "look<|channel|>commentary"),
  named("a name in the namespace functions", "functions.look"),
  named("a name between spaces", " look "),
  {
    title: "a name in two pieces",
    chunks: [
      calls(piece(a, "lo", "")),
      calls(piece({ index: 0 }, "ok", "")),
      calls(piece({ index: 0 }, undefined, oslo)),
      ...end,
    ],
    end: { calls: lookOslo },
  },
  {
    title: "an empty name and id on later pieces",
    chunks: [
      calls(piece(a, "look", "")),
      calls(piece({ index: 0, id: "" }, "", '{"city":')),
      calls(piece({ index: 0, id: "" }, "", '"Oslo"}')),
      ...end,
    ],
    end: { calls: lookOslo },
  },
  {
    title: "the name on a later piece without index and id",
    chunks: [calls(piece({ id: "aaaaaaaaa" }, "look", '{"city":')), calls(piece({}, "look", '"Oslo"}')), ...end],
    end: { calls: lookOslo },
  },
  {
    title: "a new id on each piece",
    chunks: [
      calls(piece({ index: 0, id: "chatcmpl-tool-1" }, "look", "")),
      calls(piece({ index: 0, id: "chatcmpl-tool-2" }, undefined, '{"city":')),
      calls(piece({ index: 0, id: "chatcmpl-tool-3" }, undefined, '"Oslo"}')),
      ...end,
    ],
    end: { calls: lookOslo },
  },
  {
    title: "a new id on each piece, without an index",
    chunks: [
      calls(piece({ id: "chatcmpl-tool-1" }, "look", "")),
      calls(piece({ id: "chatcmpl-tool-2" }, undefined, '{"city":')),
      calls(piece({ id: "chatcmpl-tool-3" }, undefined, '"Oslo"}')),
      ...end,
    ],
    end: { calls: lookOslo },
  },
  {
    title: "a new id and the name on each piece",
    chunks: [
      calls(piece({ index: 0, id: "chatcmpl-tool-1" }, "look", "")),
      calls(piece({ index: 0, id: "chatcmpl-tool-2" }, "look", '{"city":')),
      calls(piece({ index: 0, id: "chatcmpl-tool-3" }, "look", '"Oslo"}')),
      ...end,
    ],
    end: { calls: lookOslo },
  },
  {
    title: "the older field function_call",
    chunks: [
      delta({ role: "assistant", content: null, function_call: { name: "look", arguments: '{"city":' } }),
      delta({ function_call: { arguments: '"Oslo"}' } }),
      ...ending("function_call"),
    ],
    end: { calls: lookOslo, finish: "tool_calls" },
  },
  {
    title: "indexes from 1",
    chunks: [calls(piece({ ...a, index: 1 }, "look", oslo)), ...end],
    end: { calls: lookOslo },
  },
  {
    title: "indexes with gaps, in any order",
    chunks: [calls(piece({ ...b, index: 5 }, "look", bergen), piece({ ...a, index: 2 }, "look", oslo)), ...end],
    end: { calls: [...both].reverse() },
  },
  {
    title: "null in every place",
    chunks: [
      chunk({ choices: null }),
      chunk({}),
      chunk({ choices: [{ index: 0, delta: null, finish_reason: null }] }),
      delta({ role: "assistant", content: null, tool_calls: null, function_call: null, refusal: null }),
      calls(),
      event(null),
      delta({ content: "fine" }),
      ...ending(),
    ],
    end: { text: "fine", finish: "stop" },
  },
  {
    title: "a last chunk with the whole message",
    chunks: [
      text("Hello "),
      delta({ content: "world" }),
      chunk({
        object: "chat.completion",
        choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "Hello world" } }],
        usage: counts,
      }),
      done,
    ],
    end: { text: "Hello world", finish: "stop", usage: { output_tokens: 5 } },
  },
  {
    title: "a last chunk with the whole message beside its delta",
    chunks: [
      text("Hello "),
      delta({ content: "world" }),
      delta({ content: "" }, "stop", { message: { role: "assistant", content: "Hello world" } }),
      done,
    ],
    end: { text: "Hello world", finish: "stop" },
  },
  {
    title: "the message so far beside each delta",
    chunks: [
      delta({ content: "Hello " }, null, { message: { role: "assistant", content: "Hello " } }),
      delta({ content: "world" }, "stop", { message: { role: "assistant", content: "Hello world" } }),
      done,
    ],
    end: { text: "Hello world", finish: "stop" },
  },
  {
    title: "a last chunk with the calls again",
    chunks: [
      calls(piece(a, "look", oslo)),
      chunk({
        object: "chat.completion",
        choices: [
          {
            index: 0,
            finish_reason: "tool_calls",
            message: { role: "assistant", content: "", tool_calls: [piece({ id: a.id }, "look", oslo)] },
          },
        ],
      }),
      done,
    ],
    end: { calls: lookOslo, finish: "tool_calls" },
  },
  {
    title: "two choices, of which the first counts",
    chunks: [
      chunk({
        choices: [
          { index: 0, delta: { content: "A" } },
          { index: 1, delta: { content: "B" } },
        ],
      }),
      chunk({ choices: [{ index: 1, delta: { content: "B2" } }] }),
      chunk({ choices: [{ index: 0, delta: { content: "A2" }, finish_reason: "stop" }] }),
      done,
    ],
    end: { text: "AA2", finish: "stop" },
  },
  {
    title: "the whole arguments again at the end",
    chunks: [
      calls(piece(a, "look", '{"city":')),
      calls(piece({ index: 0 }, undefined, '"Oslo"}')),
      delta({ tool_calls: [piece(a, "look", oslo)] }, "tool_calls"),
      usage,
      done,
    ],
    end: { calls: lookOslo },
  },
  {
    title: "the name again at the end, without arguments",
    chunks: [calls(piece(a, "look", oslo)), delta({ tool_calls: [piece(a, "look", "")] }, "tool_calls"), done],
    end: { calls: lookOslo },
  },
  {
    title: "the reason for calls, but none",
    chunks: [text("I will look."), ...end],
    end: { text: "I will look.", finish: "tool_calls" },
  },
  {
    title: "the reason for calls, but nothing at all",
    chunks: [...end],
    end: { error: { code: "model_incomplete", retryable: true, says: "before it was complete" } },
  },
  {
    title: "a call that changes its name",
    chunks: [calls(piece(a, "look", '{"ci')), calls(piece(a, "wipe", 'ty":"Oslo"}')), ...end],
    end: { error: { code: "model_error", retryable: true, says: '"look"' } },
  },
  {
    title: "several tools in one wrapper",
    chunks: [
      calls(
        piece(
          a,
          "multi_tool_use.parallel",
          '{"tool_uses":[{"recipient_name":"functions.look","parameters":{"city":"Oslo"}},{"recipient_name":"functions.now","parameters":{}}]}',
        ),
      ),
      ...end,
    ],
    end: { calls: [...lookOslo, ["now", "{}"]] },
  },
  {
    title: "a name that no tool has is kept",
    chunks: [calls(piece(a, "functions.sing", "{}")), ...end],
    end: { calls: [["functions.sing", "{}"]], refused: "no tool of this name" },
  },
  {
    title: "arguments in 160 pieces",
    chunks: [
      calls(piece(a, "look", '{"city":"')),
      ...Array.from({ length: 158 }, () => calls(piece({ index: 0 }, undefined, "word "))),
      calls(piece({ index: 0 }, undefined, '"}')),
      ...end,
    ],
    end: { calls: [["look", `{"city":"${"word ".repeat(158)}"}`]] },
  },
  {
    title: "a finish reason between the chunks of a call",
    chunks: [
      calls(piece(a, "look", '{"city":')),
      finish("null"),
      calls(piece({ index: 0 }, undefined, '"Oslo"}')),
      ...end,
    ],
    end: { calls: lookOslo },
  },
];
