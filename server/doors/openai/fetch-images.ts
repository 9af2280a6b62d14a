import { AppError } from "../../core/errors.ts";
import { limits } from "../../core/limits.ts";
import { mayRun } from "../../http/auth.ts";
import { invalid } from "../../http/errors.ts";
import type { Principal } from "../../http/principal.ts";
import { type Egress, EgressError } from "../../lib/egress.ts";
import type { CreateRun } from "../../runs/schema.ts";

/** Of one image: as text it has to fit into the body of the request for its run, with all else. */
const fetchedBytesMax = 700 * 1024;
const timeoutMs = 10_000;

const isAddress = (data: string | undefined): data is string => /^https?:/i.test(data ?? "");

type Input = CreateRun["input"];

interface Asked {
  principal: Principal;
  /** Reaches what anybody may have this server reach. */
  egress: Egress;
  signal: AbortSignal;
  /** Counts what the images are for; throws 429. Nothing is fetched for whoever asks too often. */
  count(): void;
  /** Where a part of a message stands in the request. */
  param: (message: number, part: number) => string;
}

/**
 * The same input with the images themselves where it has their addresses, each fetched once. Throws for what cannot be
 * had, and for more than the request could have brought along itself.
 */
export async function withFetchedImages(
  input: Input,
  { principal, egress, signal, count, param }: Asked,
): Promise<Input> {
  // Nothing is fetched for whoever may start no run: the API says so.
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
  // Each part has its own copy in the request for the run.
  const length = parts.reduce((sum, { url }) => sum + fetched.get(url)!.length, 0);
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
            part.type === "image" && isAddress(part.data) ? { ...part, data: fetched.get(part.data)! } : part,
          ),
        },
  );
}

/** An image as a `data:` address. Whether it is one is seen by whoever takes it. */
async function fetchImage(url: string, param: string, egress: Egress, signal: AbortSignal): Promise<string> {
  const answer = await egress.fetch(url, { signal, timeoutMs, maxBytes: fetchedBytesMax }).catch((error: unknown) => {
    if (error instanceof EgressError) return null;
    throw error;
  });
  // Not why: it would tell of networks that only this server sees.
  if (answer?.status !== 200 || answer.truncated)
    throw invalid(
      param,
      `The image cannot be had: expected a public https address with at most ${fetchedBytesMax} bytes.`,
    );
  const type = /^image\/[\w.+-]+/.exec(answer.headers.get("content-type") ?? "")?.[0] ?? "image/unknown";
  return `data:${type};base64,${answer.body.toBase64()}`;
}
