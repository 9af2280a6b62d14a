/** Returns the text parts of an answer, without reasoning. */
export const textOf = (parts: readonly { type: string; text?: string }[]): string =>
  parts.map((part) => (part.type === "text" ? part.text : "")).join("");
