/** Outcome of a callback. */
export type CallbackOutcome =
  | { granted: true; clientName: string; returnUrl: string | null }
  | { granted: false; code: string; message: string; clientName: string | null; returnUrl: string | null };

const before = (code: string, message: string): CallbackOutcome => ({
  granted: false,
  code,
  message,
  clientName: null,
  returnUrl: null,
});

export const stale = before("state_invalid", "This link was used already, or is more than ten minutes old.");
export const otherBrowser = before("browser_unknown", "A consent is completed in the browser in which it began.");
export const stopping = before("shutting_down", "The server restarts, or moves the project.");
