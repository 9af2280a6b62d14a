import type { RequestOutcome } from "./request-outcome.ts";

/** Reason why a request got no response. */
export type EgressErrorCode =
  | "policy_invalid"
  | "url_invalid"
  | "scheme_forbidden"
  | "credentials_in_url"
  | "port_forbidden"
  | "header_forbidden"
  | "body_forbidden"
  | "dns_failed"
  | "dns_timeout"
  | "address_forbidden"
  | "connect_failed"
  | "connection_lost"
  | "timeout"
  | "aborted"
  | "too_many_redirects"
  | "redirect_downgrade"
  | "response_invalid"
  | "response_too_large";

/**
 * The only error of the egress guard. Its message is safe to show: it names hosts as given, never their resolved
 * addresses.
 */
export class EgressError extends Error {
  override readonly name = "EgressError";

  constructor(
    readonly code: EgressErrorCode,
    message: string,
    readonly request: RequestOutcome = "not_sent",
  ) {
    super(message);
  }

  /** True if a retry of the same request may succeed. */
  get isTransient(): boolean {
    return isTransient(this.code);
  }
}

const transientCodes: ReadonlySet<string> = new Set<EgressErrorCode>([
  "dns_failed",
  "dns_timeout",
  "connect_failed",
  "connection_lost",
  "timeout",
]);

/** True for codes of failures after which a retry of the same request may succeed. */
export const isTransient = (code: string): boolean => transientCodes.has(code);
