import { type Egress, EgressError, type EgressRequest } from "../../lib/egress.ts";
import { parsedJson } from "../../lib/json.ts";
import { jsonFault, textFault } from "../../lib/json-limits.ts";
import { OAuthFailure } from "./oauth-failure.ts";

/** How an authorization server is reached: through the guard of the client's environment. */
export interface IssuerAccess {
  egress: Egress;
  /** True in live environments. */
  httpsOnly: boolean;
  signal?: AbortSignal;
}

const answer_ms = 10_000;
const answerBytes_max = 256 * 1024;

/** Status, headers and JSON of an answer; `body` is undefined if it is none. */
interface JsonAnswer {
  status: number;
  headers: Headers;
  body: unknown;
}

/**
 * Sends a request to an authorization server. Redirects are not followed, because a code or a secret would go along.
 * Throws `OAuthFailure` without an answer.
 */
export async function fetchJson(
  { egress, httpsOnly, signal }: IssuerAccess,
  url: string,
  request: Pick<EgressRequest, "method" | "headers" | "body"> = {},
): Promise<JsonAnswer> {
  try {
    const { status, headers, body, truncated } = await egress.fetch(url, {
      ...request,
      headers: { accept: "application/json", ...request.headers },
      httpsOnly,
      signal,
      timeoutMs: answer_ms,
      maxBytes: answerBytes_max,
      maxRedirects: 0,
    });
    return { status, headers, body: truncated ? undefined : jsonIn(body) };
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    const { code, message, isTransient } = error;
    const kind =
      isTransient || code === "aborted" || code === "too_many_redirects" ? "issuer_unreachable" : kindOf(code);
    throw new OAuthFailure(kind, `${hostOf(url)}: ${message}`, isTransient);
  }
}

const kindOf = (code: EgressError["code"]) =>
  code === "response_invalid" || code === "response_too_large" ? "issuer_invalid" : "url_not_allowed";

function jsonIn(bytes: Uint8Array): unknown {
  if (textFault(bytes)) return undefined;
  const value = parsedJson(new TextDecoder().decode(bytes));
  return value === undefined || jsonFault(value) ? undefined : value;
}

/** Returns the host of an address for a message. */
export const hostOf = (url: string): string => URL.parse(url)?.host ?? "The address";

/** True for a failure of the server that may pass. */
export const isPassing = (status: number): boolean => status >= 500 || status === 429 || status === 408;
