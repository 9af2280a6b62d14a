/** Returns the text before the first separator; all of it if there is none. */
export function textBefore(text: string, separator: string): string {
  const at = text.indexOf(separator);
  return at === -1 ? text : text.slice(0, at);
}
