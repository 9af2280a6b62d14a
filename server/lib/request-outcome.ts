/** Outcome of a failed request, as known to its sender. */
export type RequestOutcome =
  /** The request never left this machine. */
  | "not_sent"
  /** The request was sent, but no complete response came back: it may have had its effect. */
  | "sent"
  /** A response came back. */
  | "answered";
