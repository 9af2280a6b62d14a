import { StringDecoder } from "node:string_decoder";
import type { Log } from "../../lib/log.ts";
import { maskSecrets } from "../../lib/redact.ts";
import { plainText } from "./plain-text.ts";
import type { McpLog } from "./progress.ts";

const limits = { charactersPerMinute: 16_384, lineCharacters: 4096 };
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
 * characters a minute. Lines are whole, because half of a secret would not be found.
 */
export function createProgramLog({ name, log, secrets, now = performance.now.bind(performance) }: Options) {
  const decoder = new StringDecoder();
  let held = "";
  let [left, until] = [0, Number.NEGATIVE_INFINITY];

  function write(message: string, level: "info" | "warn", text: string, more: object = {}): void {
    if (now() >= until) [left, until] = [limits.charactersPerMinute, now() + minute_ms];
    if (left <= 0) return;
    const shown = maskSecrets(plainText(text), secrets).trim().slice(0, limits.lineCharacters).toWellFormed();
    if (shown === "") return;
    left -= shown.length;
    log[level](message, {
      server: name,
      ...more,
      text: left > 0 ? shown : `${shown} … [more of it is left out for a minute]`,
    });
  }

  return {
    /** Takes a chunk of stderr. Its lines say nothing about errors: the protocol has programs log there. */
    hear(chunk: Buffer): void {
      const lines = `${held}${decoder.write(chunk)}`.split("\n");
      held = lines.pop() ?? "";
      if (held.length > limits.lineCharacters) {
        lines.push(held);
        held = "";
      }
      const text = lines.join("\n");
      if (text !== "") write("MCP server wrote", "info", text);
    },
    /** Takes the rest of stderr. */
    end(): void {
      write("MCP server wrote", "info", held);
      held = "";
    },
    /** Takes a log message of the protocol. */
    say({ level, message }: McpLog): void {
      write("MCP server logged", isWarning(level) ? "warn" : "info", message, { server_level: level });
    },
  };
}
