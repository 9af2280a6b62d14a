import { AppError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { mayRun } from "../../http/auth.ts";
import { invalid } from "../../http/errors.ts";
import type { Principal } from "../../http/principal.ts";
import { entryOf } from "../../lib/collections.ts";
import { type Egress, EgressError } from "../../lib/egress.ts";
import type { CreateRun } from "../../runs/schema.ts";

/** Maximal size of an image: in base64 it has to fit into the request for its run. */
const fetchedBytesMax = 700 * 1024;
const timeoutMs = 10_000;

const isAddress = (data: string | undefined): data is string => /^https?:/i.test(data ?? "");

type Input = CreateRun["input"];

interface Asked {
  principal: Principal;
  /** Egress limited to public addresses. */
  egress: Egress;
  signal: AbortSignal;
  /** Counts the request against the limit of runs, before anything is fetched. Throws 429. */
  count(): void;
  /** Returns the path of a message part in the request. */
  param: (message: number, part: number) => string;
}

/**
 * Replaces image addresses in the input by the images, each fetched once. Throws if one cannot be fetched, or if all
 * together exceed the size of a request.
 */
export async function withFetchedImages(
  input: Input,
  { principal, egress, signal, count, param }: Asked,
): Promise<Input> {
  // Fetch nothing for a key that may start no run; the API then refuses it.
  if (typeof input === "string" || !mayRun(principal)) return input;
  const parts = input.flatMap(({ content }, message) =>
    (typeof content === "string" ? [] : content).flatMap((part, index) =>
      part.type === "image" && isAddress(part.data) ? [{ url: part.data, place: param(message, index) }] : [],
    ),
  );
  const [first] = parts;
  if (!first) return input;
  const refuse = (message: string) => invalid(first.place, message);
  if (principal.token) throw refuse("Send the image itself: expected data:<type>;base64,<content>.");
  if (parts.length > limits.files_per_run) throw refuse(`Expected at most ${limits.files_per_run} images.`);
  count();
  const places = new Map(parts.toReversed().map(({ url, place }) => [url, place]));
  const fetched = new Map(
    await Promise.all(
      [...places].map(async ([url, place]) => [url, await fetchImage(url, place, egress, signal)] as const),
    ),
  );
  // The request for the run contains a copy for each part.
  const length = parts.reduce((sum, { url }) => sum + entryOf(fetched, url).length, 0);
  if (length > limits.body_bytes)
    throw new AppError(
      "payload_too_large",
      `The images of a request have at most ${limits.body_bytes} bytes in base64.`,
    );
  return input.map((message) =>
    typeof message.content === "string"
      ? message
      : {
          ...message,
          content: message.content.map((part) =>
            part.type === "image" && isAddress(part.data) ? { ...part, data: entryOf(fetched, part.data) } : part,
          ),
        },
  );
}

/** Returns an image as a `data:` URL. The API checks that it is an image. */
async function fetchImage(url: string, param: string, egress: Egress, signal: AbortSignal): Promise<string> {
  const answer = await egress.fetch(url, { signal, timeoutMs, maxBytes: fetchedBytesMax }).catch((error: unknown) => {
    if (error instanceof EgressError) return null;
    throw error;
  });
  // Omit the reason, which would reveal networks that only this server can reach.
  if (answer?.status !== 200 || answer.truncated)
    throw invalid(
      param,
      `The image cannot be had: expected a public https address with at most ${fetchedBytesMax} bytes.`,
    );
  const type = /^image\/[\w.+-]+/.exec(answer.headers.get("content-type") ?? "")?.[0] ?? "image/unknown";
  return `data:${type};base64,${answer.body.toBase64()}`;
}
