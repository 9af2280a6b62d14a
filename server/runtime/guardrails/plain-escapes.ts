/**
 * Replaces unnecessary escapes in streamed JSON by their characters. It parses to the same value, and a term written as
 * `s\u0077ordfish` is found.
 */
export function createPlainEscapes() {
  let buffer = "";
  // Invalid JSON stays unchanged, because unescaping might make it valid.
  let isBroken = false;
  return {
    push(text: string): string {
      if (isBroken) return text;
      buffer += text;
      let [plain, at] = ["", 0];
      for (let next = buffer.indexOf("\\"); next >= 0; next = buffer.indexOf("\\", at)) {
        plain += buffer.slice(at, next);
        at = next;
        const known = readEscape(buffer.slice(at, at + 12));
        if (!known) break;
        isBroken ||= known.text === "\\u";
        if (isBroken) break;
        plain += known.text;
        at += known.length;
      }
      const isOpen = buffer[at] === "\\" && !isBroken;
      if (!isOpen) plain += buffer.slice(at);
      buffer = isOpen ? buffer.slice(at) : "";
      return plain;
    },
    /** Returns text held back that was not an escape. */
    end(): string {
      const rest = buffer;
      buffer = "";
      return rest;
    },
  };
}

/** Returns the escape at the start of a text; null if more text is needed. */
function readEscape(text: string): { text: string; length: number } | null {
  const as = (length: number, plain = text.slice(0, length)) => ({ text: plain, length });
  if (text.length < 2) return null;
  if (text[1] === "/") return as(2, "/");
  if (text[1] !== "u") return as(2);
  if (text.length < 6) return /^\\u[\da-f]*$/i.test(text) ? null : as(2);
  const [code, low] = [codeOf(text.slice(0, 6)), codeOf(text.slice(6))];
  if (code === null) return as(2);
  if (/^\\ud[89ab]/i.test(text)) {
    if (low !== null && low >= 0xdc00 && low <= 0xdfff) return as(12, String.fromCharCode(code, low));
    return /^(\\(u[\da-f]{0,3})?)?$/i.test(text.slice(6)) ? null : as(6);
  }
  return isPlain(code) ? as(6, String.fromCharCode(code)) : as(6);
}

const codeOf = (text: string): number | null =>
  /^\\u[\da-f]{4}$/i.test(text) ? Number.parseInt(text.slice(2), 16) : null;

/** True if it is no control character, quote, backslash or surrogate. */
const isPlain = (code: number): boolean =>
  code >= 0x20 && code !== 0x22 && code !== 0x5c && (code < 0xd800 || code > 0xdfff);
