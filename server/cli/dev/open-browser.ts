/** True if a person is at the terminal and a desktop is there. */
export const mayOpenBrowser = (): boolean =>
  Boolean(process.stdout.isTTY) && browserCommand(process.platform, process.env) !== null;

/** Opens an address in the person's browser. One that does not open is no error, since the terminal has it too. */
export function openBrowser(address: string): void {
  const command = browserCommand(process.platform, process.env);
  if (command === null) return;
  try {
    Bun.spawn([...command, address], { stdio: ["ignore", "ignore", "ignore"], detached: true }).unref();
  } catch {
    // There is no such program.
  }
}

type Variables = Record<string, string | undefined>;

/** Returns the command that opens an address; null where no desktop is. */
export function browserCommand(system: string, { CI, DISPLAY, WAYLAND_DISPLAY, SSH_CONNECTION }: Variables) {
  if (CI || SSH_CONNECTION) return null;
  if (system === "darwin") return ["open"];
  if (system === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  return DISPLAY || WAYLAND_DISPLAY ? ["xdg-open"] : null;
}
