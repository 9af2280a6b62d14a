/**
 * Prefixes each line of an untrusted text, so that none can pass for the head of another text, or for words of the
 * user.
 */
export const quoteUntrusted = (text: string): string => `> ${text.split(lineBreak).join("\n> ")}`;

/** Quotes a name on one line. */
export const quoted = (text: string): string => JSON.stringify(onOneLine(text));

export const onOneLine = (text: string): string => text.replaceAll(lineBreak, " ");

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what models may take for the end of a line.
const lineBreak = /\r\n|[\n\r\u000b\u000c\u0085\u2028\u2029]/g;
