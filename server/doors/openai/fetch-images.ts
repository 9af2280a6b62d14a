import { AppError } from "../../core/errors.ts";
import { limits } from "../../core/limits.ts";
import { fault, validationError } from "../../http/errors.ts";
import { type Egress, EgressError } from "../../lib/egress.ts";
import type { CreateRun } from "../../runs/schema.ts";

/** Of one image: as text it has to fit into the body of the request for its run, with all else. */
const fetchedBytesMax = 700 * 1024;
const timeoutMs = 10_000;

const isAddress = (data: string | undefined): data is string => /^https?:/i.test(data ?? "");

type Input = CreateRun["input"];

/**
 * The same input with the images themselves where it has their addresses, each fetched once. Throws for what cannot be
 * had; `param` is where the messages stand in the request.
 */
export async function withFetchedImages(
  input: Input,
  { egress, signal, param }: { egress: Egress; signal: AbortSignal; param: (message: number, part: number) => string },
): Promise<Input> {
  if (typeof input === "string") return input;
  const places = new Map<string, string>();
  for (const [message, { content }] of input.entries())
    for (const [part, shown] of (typeof content === "string" ? [] : content).entries())
      if (shown.type === "image" && isAddress(shown.data) && !places.has(shown.data))
        places.set(shown.data, param(message, part));
  if (places.size === 0) return input;
  if (places.size > limits.files_per_run)
    throw validationError([fault([...places.values()][0]!, `Expected at most ${limits.files_per_run} images.`)]);
  const fetched = new Map(
    await Promise.all(
      [...places].map(async ([url, place]) => [url, await fetchImage(url, place, egress, signal)] as const),
    ),
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
  const { status, headers, body, truncated } = await egress
    .fetch(url, { signal, timeoutMs, maxBytes: fetchedBytesMax })
    .catch((error: unknown) => {
      throw error instanceof EgressError ? refusalOf(error, param) : error;
    });
  const wrong = (message: string) => validationError([fault(param, message)]);
  if (status !== 200) throw wrong(`The image cannot be had: its address answers ${status}.`);
  if (truncated) throw wrong(`The image is larger than ${fetchedBytesMax} bytes.`);
  const type = /^image\/[\w.+-]+/.exec(headers.get("content-type") ?? "")?.[0] ?? "image/unknown";
  return `data:${type};base64,${body.toBase64()}`;
}

const forbidden = new Set(["scheme_forbidden", "credentials_in_url", "port_forbidden", "address_forbidden"]);

const refusalOf = ({ code, message }: EgressError, param: string): AppError =>
  forbidden.has(code)
    ? new AppError("url_not_allowed", message, { param })
    : validationError([fault(param, `The image cannot be had: ${message}`)]);
