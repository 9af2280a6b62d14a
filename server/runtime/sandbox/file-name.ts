/** True if the name is plain: no path separators, no control characters, at most 255 bytes. */
export function isPlainName(name: string): boolean {
  if (name === "" || name === "." || name === ".." || !name.isWellFormed()) return false;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is refused.
  return !/[/\\\u0000-\u001f\u007f]/.test(name) && Buffer.byteLength(name) <= 255;
}
