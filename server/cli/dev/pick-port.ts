const usualPort = 8440;
const tries = 10;

/**
 * Returns the usual port of `runnel dev`, or one of the next nine if another program listens there. If all are taken, the
 * usual one: the start then says why it fails.
 */
export function pickPort(isFree: (port: number) => boolean = canListen): number {
  const ports = Array.from({ length: tries }, (_, index) => usualPort + index);
  return ports.find(isFree) ?? usualPort;
}

function canListen(port: number): boolean {
  try {
    Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
    return true;
  } catch {
    return false;
  }
}
