import { redact } from "./redact.ts";

/** Structured log for the operator. Field values may be anything; secrets are masked when a line is written. */
export interface Log {
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

export const silentLog: Log = { info() {}, warn() {}, error() {} };

export const logFormats = ["pretty", "json"] as const;
export type LogFormat = (typeof logFormats)[number];

interface LogOptions {
  format: LogFormat;
  /** Takes one line without its line break. */
  write: (line: string) => void;
  /** Secrets without a recognisable form, such as provider keys: masked wherever they occur. */
  secrets?: readonly string[];
  now?: () => number;
}

type Level = keyof Log;

/** The only place that makes log lines, so that no caller has to mask secrets. */
export function createLog({ format, write, secrets = [], now = Date.now }: LogOptions): Log {
  const line = format === "json" ? jsonLine : prettyLine;
  const at =
    (level: Level) =>
    (message: string, fields: Record<string, unknown> = {}) =>
      write(redact(line(level, message, fields, new Date(now()).toISOString()), secrets));
  return { info: at("info"), warn: at("warn"), error: at("error") };
}

function jsonLine(level: Level, message: string, fields: Record<string, unknown>, time: string): string {
  return JSON.stringify({ time, level, message, ...fields }, plain);
}

function prettyLine(level: Level, message: string, fields: Record<string, unknown>, time: string): string {
  const rest = Object.entries(fields).map(([name, value]) => ` ${name}=${JSON.stringify(plain(name, value), plain)}`);
  return `${time.slice(11, 23)} ${level.padEnd(5)} ${message.replaceAll("\n", " ")}${rest.join("")}`;
}

const secretNames = /^(authorization|proxy-authorization|cookie|set-cookie|x-api-key|api_key|password|secret|token)$/i;

/** Makes anything writable: errors with their causes, big integers, and nothing under a secret's name. */
function plain(name: string, value: unknown): unknown {
  if (secretNames.test(name) && value !== null && value !== undefined) return "[hidden]";
  if (value instanceof Error) return errorFields(value);
  if (typeof value === "bigint") return String(value);
  return value;
}

function errorFields(error: Error): Record<string, unknown> {
  const { name, message, stack, cause } = error;
  return { name, message, stack, ...(cause !== undefined && { cause }) };
}
