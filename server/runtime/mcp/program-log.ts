import { StringDecoder } from "node:string_decoder";
import type { Log } from "../../lib/log.ts";
import { maskFor } from "../../lib/mask.ts";
import { maskSecrets } from "../../lib/redact.ts";
import { plainText } from "./plain-text.ts";
import type { McpLog } from "./progress.ts";

// A short line counts as more, because its entry does.
const limits = { charactersPerMinute: 16_384, shortestLine: 64, lineCharacters: 4096 };
const minute_ms = 60_000;
// Levels of the protocol that the operator should look at.
const isWarning = (level: McpLog["level"]): boolean => !["debug", "info", "notice"].includes(level);

interface Options {
  /** Name of the server. */
  name: string;
  log: Log;
  /** Values that are hidden. */
  secrets: readonly string[];
  now?: () => number;
}

/**
 * Writes what a program says into the server's log: lines of its stderr, and its log messages, up to a number of
 * characters a minute. Secrets are hidden before lines are divided and cut, because a part of one would not be found.
 */
export function createProgramLog({ name, log, secrets, now = performance.now.bind(performance) }: Options) {
  const decoder = new StringDecoder();
  const mask = maskFor(secrets);
  /** The last character, if it is half of a line's end. */
  let half = "";
  let line = "";
  /** True while the rest of a line is left out. */
  let isCut = false;
  let [left, until] = [0, Number.NEGATIVE_INFINITY];

  /** Writes a text without secrets, of which no more than a line is shown. */
  function write(message: string, level: "info" | "warn", text: string, more: object = {}): void {
    if (now() >= until) [left, until] = [limits.charactersPerMinute, now() + minute_ms];
    const shown = text.slice(0, limits.lineCharacters).trim().toWellFormed();
    if (left <= 0 || shown === "") return;
    left -= Math.max(limits.shortestLine, shown.length);
    const rest =
      left <= 0
        ? " … [more of it is left out for a minute]"
        : text.length > limits.lineCharacters
          ? " … [the rest of the line is left out]"
          : "";
    log[level](message, { server: name, ...more, text: `${shown}${rest}` });
  }

  function writeLine(): void {
    if (!isCut) write("MCP server wrote", "info", line);
    line = "";
  }

  /** Takes text without secrets. */
  function take(text: string): void {
    const [first = "", ...others] = text.split("\n");
    line += first;
    for (const next of others) {
      writeLine();
      isCut = false;
      line = next;
    }
    // A line may never end.
    if (!isCut && line.length <= limits.lineCharacters) return;
    writeLine();
    isCut = true;
  }

  return {
    /** Takes a chunk of stderr. Its lines say nothing about errors: the protocol has programs log there. */
    hear(chunk: Buffer): void {
      const text = `${half}${decoder.write(chunk)}`;
      half = text.endsWith("\r") ? "\r" : "";
      const plain = plainText(text.slice(0, text.length - half.length).replace(/\r\n?/g, "\n"));
      take(mask ? mask.push(plain) : plain);
    },
    /** Takes the rest of stderr, which may end in the beginning of a secret. */
    end(): void {
      if (mask) take(mask.end(true));
      writeLine();
    },
    /** Takes a log message of the protocol. */
    say({ level, message }: McpLog): void {
      const text = maskSecrets(plainText(message), secrets);
      write("MCP server logged", isWarning(level) ? "warn" : "info", text, { server_level: level });
    },
  };
}
