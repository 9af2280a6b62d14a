import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { native, openCLibrary } from "../../lib/native.ts";
import { tellSystemd } from "./systemd.ts";

const { FFIType, ptr } = native();
const { i32, u32, u64, i64, ptr: pointer } = FFIType;

/** Opens a datagram socket at a path, as systemd does for each service. */
function listenAt(path: string) {
  const { symbols } = openCLibrary({
    socket: { args: [i32, i32, i32], returns: i32 },
    bind: { args: [i32, pointer, u32], returns: i32 },
    recv: { args: [i32, pointer, u64, i32], returns: i64 },
    close: { args: [i32], returns: i32 },
  });
  const address = Buffer.concat([Buffer.from([1, 0]), Buffer.from(path)]);
  if (path.startsWith("@")) address[2] = 0;
  const socket = symbols.socket(1, 2, 0);
  if (symbols.bind(socket, ptr(address), address.length) !== 0) throw new Error(`${path} cannot be bound.`);
  return {
    take(): string {
      const buffer = Buffer.alloc(100);
      return buffer.subarray(0, Number(symbols.recv(socket, ptr(buffer), buffer.length, 0))).toString();
    },
    [Symbol.dispose]: () => symbols.close(socket),
  };
}

test.skipIf(process.platform !== "linux")("systemd receives each message, at a path and at an abstract name", () => {
  const folder = mkdtempSync(join(tmpdir(), "runnel-systemd-"));
  try {
    for (const path of [join(folder, "notify"), `@${folder}`]) {
      using socket = listenAt(path);
      tellSystemd("READY=1", path);
      tellSystemd("MAINPID=4711", path);
      expect([socket.take(), socket.take()]).toEqual(["READY=1", "MAINPID=4711"]);
    }
    expect(() => tellSystemd("READY=1", join(folder, "none"))).toThrow("takes nothing");
    tellSystemd("READY=1", undefined);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
