/** How this process starts another one of itself: the executable, or the runtime and the file that it was given. */
export const ownCommand = (...args: string[]): string[] =>
  /^(\/\$bunfs\/|[A-Z]:[/\\]~BUN)/i.test(Bun.main)
    ? [process.execPath, ...args]
    : [process.execPath, Bun.main, ...args];
