/** What is known of a request that failed, by whoever sent it. */
export type RequestState =
  /** It never left this machine: nobody has seen it. */
  | "not_sent"
  /** It left, and no whole answer came back: nobody knows whether it had its effect. */
  | "sent"
  /** Whoever got it has said what came of it, whatever that is worth. */
  | "answered";
