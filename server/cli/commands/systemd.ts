import { native, openCLibrary } from "../../lib/native.ts";

const { FFIType, ptr } = native();

const [unixFamily, datagrams, closedAtExec] = [1, 2, 0x80000]; // AF_UNIX, SOCK_DGRAM, SOCK_CLOEXEC

/**
 * Reports this process's state, such as `READY=1`, to systemd (sd_notify(3)). Does nothing without a socket path. Uses
 * libc, because the runtime has no datagram Unix sockets.
 */
export function tellSystemd(state: string, path = process.env.NOTIFY_SOCKET): void {
  if (!path) return;
  const address = Buffer.concat([new Uint8Array(Uint16Array.of(unixFamily).buffer), Buffer.from(path)]);
  if (path.startsWith("@")) address[2] = 0; // Abstract socket: its name is not a path.
  const text = Buffer.from(state);
  const { i32, u64, ptr: pointer, u32 } = FFIType;
  const { symbols } = openCLibrary({
    socket: { args: [i32, i32, i32], returns: i32 },
    sendto: { args: [i32, pointer, u64, i32, pointer, u32], returns: FFIType.i64 },
    close: { args: [i32], returns: i32 },
  });
  const socket = symbols.socket(unixFamily, datagrams | closedAtExec, 0);
  const sentBytes = symbols.sendto(socket, ptr(text), text.length, 0, ptr(address), address.length);
  symbols.close(socket);
  if (Number(sentBytes) !== text.length) throw new Error(`systemd was not told ${state}: ${path} takes nothing.`);
}
