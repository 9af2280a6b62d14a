import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { counted, delta, done, ending, finish, json, type ServerAnswer, text, usage, whole } from "./chunks.ts";

const hello = [text("Hello "), delta({ content: "wörld €😀" }), ...ending()];
const all = hello.join("");
const said = { text: "Hello wörld €😀", finish: "stop", usage: counted } as const;
const short = { text: "Hello", finish: "stop" } as const;
const message = whole({ content: "Hello wörld €😀" });

/** The same answer, each chunk changed. */
const changed = (title: string, change: (chunk: string) => string): ServerAnswer => ({
  title,
  chunks: hello.map(change),
  end: said,
});

/** The same answer with these headers. */
const labelled = (
  title: string,
  headers: Record<string, string>,
  chunks: readonly (string | Uint8Array)[] = hello,
) => ({
  title,
  headers,
  chunks,
  end: said,
});

const bytes = (data: string): Uint8Array => new TextEncoder().encode(data);
const stream = { "content-type": "text/event-stream" };

/** Framing of answers: events, whole messages, types and encodings. */
export const framingAnswers: readonly ServerAnswer[] = [
  { title: "ordinary events", chunks: hello, end: said },
  changed("no space after data:", (one) => one.replace("data: ", "data:")),
  changed("lines that end with both characters", (one) => one.replaceAll("\n", "\r\n")),
  changed("lines that end with a carriage return", (one) => one.replaceAll("\n", "\r")),
  {
    title: "comments between events",
    chunks: [": PROCESSING\n\n", ":\n", ": ping\n\n", ...hello.flatMap((one) => [":\n\n", one])],
    end: said,
  },
  { title: "a byte order mark", chunks: [Uint8Array.of(0xef, 0xbb, 0xbf), ...hello], end: said },
  changed("events with name, id and retry", (one) => `event: message\nid: 1\nretry: 5\n${one}`),
  { title: "no [DONE]", chunks: [text("Hello"), finish("stop")], end: short },
  { title: "no blank line at the end", chunks: [text("Hello"), finish("stop").trimEnd()], end: short },
  ...["data:[DONE]", "data: [DONE] ", 'data: "[DONE]"', "[DONE]", "data: [done]"].map((last) => ({
    title: `"${last}" at the end`,
    chunks: [text("Hello"), finish("stop"), `${last}\n\n`],
    end: short,
  })),
  changed("no blank lines between events", (one) => one.replace("\n\n", "\n")),
  changed("blank lines before events", (one) => `\n\n${one}`),
  labelled("events labelled as JSON", json),
  labelled("events labelled as JSON with a charset", { "content-type": "application/json; charset=utf-8" }),
  labelled("events labelled as text", { "content-type": "text/plain; charset=utf-8" }),
  labelled("events without a label", {}),
  labelled("events labelled as bytes", { "content-type": "application/octet-stream" }),
  labelled("a whole message", json, [message]),
  labelled("a whole message labelled as text", { "content-type": "text/plain" }, [message]),
  labelled("a whole message labelled as events", stream, [message]),
  labelled("a whole message without a label", {}, [message]),
  labelled("a whole message labelled in another case", { "content-type": "Application/JSON" }, [message]),
  labelled("a whole message after white space", json, ["\n \n", "   \n", message]),
  labelled("a whole message labelled as another JSON", { "content-type": "application/vnd.api+json" }, [message]),
  labelled("a whole message on several lines", stream, [JSON.stringify(JSON.parse(message), null, 2)]),
  labelled("a whole message in one event", stream, [`data: ${message}\n\n`]),
  labelled("gzip", { ...stream, "content-encoding": "gzip" }, [gzipSync(all)]),
  labelled("deflate", { ...stream, "content-encoding": "deflate" }, [deflateSync(all)]),
  labelled("brotli", { ...stream, "content-encoding": "br" }, [brotliCompressSync(all)]),
  { title: "byte by byte", chunks: [...bytes(all)].map((byte) => Uint8Array.of(byte)), end: said },
  {
    title: "lines of JSON",
    headers: { "content-type": "application/x-ndjson" },
    chunks: hello.slice(0, -1).map((one) => one.slice("data: ".length, -1)),
    end: said,
  },
  {
    title: "lines of JSON labelled as events",
    chunks: hello.slice(0, -1).map((one) => one.slice("data: ".length, -1)),
    end: said,
  },
  {
    title: "text after the finish reason",
    chunks: [text("Hello"), finish("stop"), delta({ content: " more" }), usage, done],
    end: { text: "Hello more", finish: "stop", usage: counted },
  },
  {
    title: "a null reason after the finish reason",
    chunks: [text("Hello"), finish("stop"), delta({}), usage, done],
    end: { ...short, usage: counted },
  },
  {
    title: "a connection that breaks after the finish reason",
    chunks: [text("Hello"), finish("stop"), usage],
    breaks: true,
    end: { ...short, usage: counted },
  },
  {
    title: "a connection that breaks right after the finish reason",
    chunks: [text("Hello"), finish("stop")],
    breaks: true,
    end: short,
  },
  {
    title: "a connection that breaks within the answer",
    chunks: [text("Hello")],
    breaks: true,
    end: { text: "Hello", error: { code: "model_incomplete", retryable: true, says: "before it was complete" } },
  },
  {
    title: "garbage after the finish reason",
    chunks: [text("Hello"), finish("stop"), usage, "data: {oops\n\n"],
    end: { ...short, usage: counted },
  },
  {
    title: "garbage within the answer",
    chunks: [text("Hello"), "data: {oops\n\n", finish("stop"), usage],
    end: { text: "Hello", error: { code: "model_error", retryable: true, says: "cannot be read" } },
  },
  {
    title: "an error after the finish reason",
    chunks: [text("Hello"), finish("stop"), usage, 'data: {"error":{"message":"late E-77"}}\n\n'],
    end: { ...short, usage: counted },
  },
  {
    title: "a web page in place of an answer",
    headers: { "content-type": "text/html" },
    chunks: ["<!doctype html><title>Welcome</title>"],
    end: { error: { code: "model_error", retryable: false, says: "web page" } },
  },
  {
    title: "reasoning in tags",
    chunks: [text("<think>hm"), delta({ content: "</think>Hello" }), ...ending()],
    end: { ...short, reasoning: "hm" },
  },
  {
    title: "reasoning in tags that arrive in pieces",
    chunks: [..."<think>\nh<m\n</think>\n\nHello".split("").map(text), ...ending()],
    end: { ...short, reasoning: "\nh<m\n" },
  },
  {
    title: "an ordinary tag",
    chunks: [text("<th"), text("ead>Hello"), ...ending()],
    end: { text: "<thead>Hello", finish: "stop" },
  },
  {
    title: "the beginning of a tag alone",
    chunks: [text("<thi"), ...ending()],
    end: { text: "<thi", finish: "stop" },
  },
  {
    title: "tags for reasoning within a text",
    chunks: [text("Use <think> and </think>."), ...ending()],
    end: { text: "Use <think> and </think>.", finish: "stop" },
  },
  {
    title: "reasoning alone is the answer",
    chunks: [delta({ role: "assistant", reasoning_content: "The answer is 4." }), ...ending()],
    end: { reasoning: "The answer is 4.", text: "The answer is 4.", finish: "stop", usage: counted },
  },
  {
    title: "reasoning alone that was cut off is no answer",
    chunks: [delta({ role: "assistant", reasoning: "Let me see" }), ...ending("length")],
    end: { reasoning: "Let me see", text: "", finish: "length" },
  },
  {
    title: "empty deltas before the text",
    chunks: [...Array.from({ length: 32 }, () => text("")), text("Hello"), ...ending()],
    end: { ...short, usage: counted },
  },
  { title: "nothing", chunks: [text(""), ...ending()], end: { text: "", finish: "stop", usage: counted } },
  {
    title: "nothing but a filter",
    chunks: [text(""), ...ending("content_filter")],
    end: { text: "", finish: "content_filter", usage: counted },
  },
  {
    title: "a text that was cut off",
    chunks: [text("The beginning of a long"), ...ending("length")],
    end: { text: "The beginning of a long", finish: "length", usage: counted },
  },
  ...["eos", "end_turn", "STOP"].map((reason) => ({
    title: `the finish reason ${reason}`,
    chunks: [text("Hello"), ...ending(reason)],
    end: { ...short, usage: counted },
  })),
];
