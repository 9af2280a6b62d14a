/** What the model said to the user: its text parts, without reasoning. */
export const textOf = (parts: readonly { type: string; text?: string }[]): string =>
  parts.map((part) => (part.type === "text" ? part.text : "")).join("");
