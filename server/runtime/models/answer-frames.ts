import { createParser } from "eventsource-parser";
import { fieldsOf, parsedJson } from "../../lib/json.ts";
import { UnusableAnswer } from "./model-error.ts";

/** Longest line, and longest whole answer: a server that sends no line break would fill the memory. */
const frameMax = 8 * 1024 * 1024;

const tooLong = () =>
  new UnusableAnswer(`The provider sent more than ${frameMax / 1024 / 1024} MB in one piece.`, { isPassing: true });

const webPage = () =>
  new UnusableAnswer("The server sent a web page and no model's answer. Check the address of the connection.");

interface FrameReader {
  /** Returns the payloads that a text completes. */
  read(text: string): string[];
  /** Returns the payloads that only lack their end. */
  end(): string[];
}

/**
 * Reads the payloads of an answer: events, lines of JSON, or one JSON text. Its first character tells which, because
 * many servers and gateways send a wrong type.
 */
export function frameReader(): FrameReader {
  let start = "";
  let reader: FrameReader | null = null;
  return {
    read(text) {
      if (reader) return reader.read(text);
      start += text;
      const [first] = start.trimStart();
      if (first === undefined && start.length < frameMax) return [];
      if (first === "<") throw webPage();
      reader = first === "{" || first === "[" ? jsonReader() : eventReader();
      return reader.read(start);
    },
    end: () => reader?.end() ?? [],
  };
}

function eventReader(): FrameReader {
  let payloads: string[] = [];
  const parser = createParser({
    onEvent({ event, data }) {
      if (event === "error") payloads.push(errorPayload(data));
      else payloads.push(data);
    },
    maxBufferSize: frameMax,
    onError(error) {
      if (error.type === "max-buffer-size-exceeded") throw tooLong();
    },
  });
  const read = (text: string): string[] => {
    payloads = [];
    parser.feed(text);
    return payloads;
  };
  return { read, end: () => read("\n\n").flatMap(linesOf).filter(isComplete) };
}

/** Returns the payload of an event of the type `error`, which may be a sentence. */
function errorPayload(data: string): string {
  const value = parsedJson(data);
  return JSON.stringify(Object.keys(fieldsOf(value)).length > 0 ? { error: value } : { error: String(value ?? data) });
}

/** Returns the payloads that a server sent without blank lines between them, as one event of several lines. */
export const linesOf = (payload: string): string[] =>
  parsedJson(payload) === undefined ? payload.split("\n").filter((line) => line !== "") : [payload];

/** False for an event cut by the end of the connection: the answer is then incomplete, not unreadable. */
const isComplete = (payload: string): boolean => isDone(payload) || parsedJson(payload) !== undefined;

/** True for the payload that ends a stream, with quotes or spaces around it. */
export const isDone = (payload: string): boolean => /^\s*"?\[DONE\]"?\s*$/i.test(payload);

/** Reads lines of JSON; if the first line is not JSON by itself, all lines are one text. */
function jsonReader(): FrameReader {
  let rest = "";
  let isWhole: boolean | null = null;
  return {
    read(text) {
      rest += text;
      if (rest.length > frameMax) throw tooLong();
      if (isWhole || !text.includes("\n")) return [];
      const lines = rest.split("\n");
      isWhole ??= parsedJson(lines.find((line) => line.trim() !== "") ?? "") === undefined;
      if (isWhole) return [];
      rest = lines.pop() ?? "";
      return lines.filter((line) => line.trim() !== "");
    },
    end: () => (rest.trim() === "" ? [] : [rest]),
  };
}
