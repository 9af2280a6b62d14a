import { retryAfter } from "../lib/retry.ts";

/** How long a provider asks to be left alone: `retry-after-ms`, `Retry-After` in seconds or as a date, or in Google's body. */
export function retryAfterMs(headers: Record<string, string>, body: string, now: number): number | null {
  return milliseconds(headers["retry-after-ms"]) ?? retryAfter(headers["retry-after"], now) ?? delayInBody(body);
}

function milliseconds(value: string | undefined): number | null {
  return value !== undefined && /^\d+(\.\d+)?$/.test(value.trim()) ? Math.ceil(Number(value)) : null;
}

function delayInBody(body: string): number | null {
  const delay = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1];
  return delay === undefined ? null : Math.ceil(Number(delay) * 1000);
}
