/**
 * Returns a text of an authorization server as part of a message: one line of printable characters, shortened, and
 * without a full stop at its end, because the message has its own.
 */
export const issuerText = (text: string): string =>
  text
    .replaceAll(/[^\x20-\x7e\u00a0-\ud7ff\uf900-\ufffd]+/g, " ")
    .slice(0, 200)
    .replace(/[\s.]+$/, "")
    .trim();
