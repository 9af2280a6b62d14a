/** Why nothing came back. */
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

/** The only error of the egress guard. Its message is safe to show: it names hosts as given, never what they resolve to. */
export class EgressError extends Error {
  override readonly name = "EgressError";

  constructor(
    readonly code: EgressErrorCode,
    message: string,
    /** Whether a server may have seen the request. False promises that none did, so that it may be sent again. */
    readonly sent = false,
  ) {
    super(message);
  }
}
