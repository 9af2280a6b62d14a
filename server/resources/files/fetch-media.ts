import { AppError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { MediaPart } from "../../domain/run-input.ts";
import { type Egress, EgressError, type EgressErrorCode } from "../../lib/egress.ts";

const timeoutMs = 15_000;
const redirectsMax = 3;
const atOnce = 4;

interface Addressed {
  url: string;
  type: MediaPart["type"];
  /** Parameter of the request, for errors. */
  place: string;
}

interface Fetched {
  content: Uint8Array;
  /** Name by the address; null if it has none. */
  filename: string | null;
}

/**
 * Fetches each address once, a few at a time. Throws `url_not_fetched` for the first that cannot be fetched. `most`:
 * bytes of all together.
 */
export async function fetchMedia(
  addressed: readonly Addressed[],
  { egress, signal, most }: { egress: Egress; signal?: AbortSignal | undefined; most: number },
): Promise<Map<string, Fetched>> {
  const fetched = new Map<string, Fetched>();
  // The first place of an address is the one that an error names.
  const waiting = [...new Map(addressed.toReversed().map((one) => [one.url, one])).values()].reverse();
  let room = most;
  const given = new AbortController();
  const signals = AbortSignal.any([given.signal, ...(signal ? [signal] : [])]);
  async function work(): Promise<void> {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const one = await fetchOne(next, { egress, signal: signals, maxBytes: mostOf(next.type) });
      room -= one.content.length;
      if (room < 0) throw tooMuch(next.place);
      fetched.set(next.url, one);
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(atOnce, waiting.length) }, work));
  } finally {
    given.abort(); // After a failure the others are of no use.
  }
  return fetched;
}

/** Error of a request that brings too much. */
export const tooMuch = (param: string): AppError =>
  new AppError(
    "payload_too_large",
    `The images and files of a request have at most ${limits.input_media_bytes} bytes together.`,
    { param },
  );

const mostOf = (type: MediaPart["type"]): number =>
  type === "image" ? limits.image_bytes : type === "audio" ? limits.audio_bytes : limits.input_media_bytes;

async function fetchOne(
  asked: Addressed,
  { egress, signal, maxBytes }: { egress: Egress; signal: AbortSignal; maxBytes: number },
): Promise<Fetched> {
  const options = { signal, timeoutMs, maxBytes, maxRedirects: redirectsMax, headers: { accept: "*/*" } };
  const answer = await egress.fetch(asked.url, options).catch((error: unknown) => {
    if (!(error instanceof EgressError)) throw error;
    const [reason, message] = reasons[error.code] ?? unreachable;
    throw notFetched(asked, reason, message);
  });
  if (answer.status !== 200) throw notFetched(asked, "bad_status", `its server answered with ${answer.status}`);
  if (answer.truncated) throw notFetched(asked, "too_large", `it has more than ${maxBytes} bytes`);
  if (answer.body.length === 0) throw notFetched(asked, "empty", "it has no content");
  return { content: answer.body, filename: nameIn(answer.url) };
}

// The real reason would reveal networks that only this server can reach, so one word stands for all of them.
const unreachable = ["unreachable", "expected a public https address that answers"] as const;
const reasons: Partial<Record<EgressErrorCode, readonly [reason: string, message: string]>> = {
  timeout: ["timeout", `it took longer than ${timeoutMs} ms`],
  too_many_redirects: ["too_many_redirects", `it is redirected more than ${redirectsMax} times`],
};

const notFetched = ({ place }: Addressed, reason: string, message: string): AppError =>
  new AppError("url_not_fetched", `${place}: The address could not be fetched: ${message}.`, {
    param: place,
    details: { reason },
  });

/** Returns the last part of an address's path. */
function nameIn(url: string): string | null {
  const last = URL.parse(url)?.pathname.split("/").at(-1) ?? "";
  try {
    return decodeURIComponent(last) || null;
  } catch {
    return last || null;
  }
}
