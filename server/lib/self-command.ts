/** Command line that starts this program again: the executable, or the runtime with the main file. */
export const selfCommand = (...args: string[]): string[] =>
  /^(\/\$bunfs\/|[A-Z]:[/\\]~BUN)/i.test(Bun.main)
    ? [process.execPath, ...args]
    : [process.execPath, Bun.main, ...args];
