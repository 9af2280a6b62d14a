/**
 * Opens an address in the person's browser. Does nothing where no person is at the terminal or no desktop is there; a
 * browser that does not open is no error, since the address is printed too.
 */
export function openBrowser(address: string): void {
  const command = process.stdout.isTTY ? browserCommand(process.platform, process.env) : null;
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
