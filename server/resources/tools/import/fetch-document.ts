import { AppError } from "../../../domain/errors.ts";
import { importLimits } from "../../../domain/openapi-import.ts";
import type { Environment } from "../../../domain/scope.ts";
import { checkEgress } from "../../../http/check-egress.ts";
import { type Egress, EgressError } from "../../../lib/egress.ts";

const timeoutMs = 20_000;
const redirectsMax = 3;

/** Fetches a document once. Throws `url_not_allowed` or `url_not_fetched`. */
export async function fetchDocument(
  url: string,
  { egress, environment, signal }: { egress: Egress; environment: Environment; signal: AbortSignal },
): Promise<Uint8Array> {
  await checkEgress(egress, url, environment === "live", "url");
  const response = await egress
    .fetch(url, {
      signal,
      timeoutMs,
      httpsOnly: environment === "live",
      maxBytes: importLimits.document_bytes,
      maxRedirects: redirectsMax,
      headers: { accept: "application/json, application/yaml, text/yaml, */*" },
    })
    .catch((error: unknown) => {
      if (!(error instanceof EgressError)) throw error;
      if (error.code === "address_forbidden") throw new AppError("url_not_allowed", error.message, { param: "url" });
      throw notFetched(reasons[error.code] ?? "unreachable", error.message);
    });
  if (response.status !== 200) throw notFetched("bad_status", `Its server answered with ${response.status}.`);
  if (response.truncated) throw notFetched("too_large", `It has more than ${importLimits.document_bytes} bytes.`);
  if (response.body.length === 0) throw notFetched("empty", "It has no content.");
  return response.body;
}

const reasons: Partial<Record<EgressError["code"], string>> = {
  timeout: "timeout",
  too_many_redirects: "too_many_redirects",
};

const notFetched = (reason: string, message: string): AppError =>
  new AppError("url_not_fetched", `The document could not be fetched: ${message}`, {
    param: "url",
    details: { reason },
  });
