/** Whether a file may have this name: no folder, no control character, nothing that a shell or a system takes as a path. */
export function isPlainName(name: string): boolean {
  if (name === "" || name === "." || name === ".." || !name.isWellFormed()) return false;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is refused.
  return !/[/\\\u0000-\u001f\u007f]/.test(name) && Buffer.byteLength(name) <= 255;
}
