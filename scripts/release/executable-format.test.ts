import { describe, expect, test } from "bun:test";
import { requireFormat } from "./executable-format.ts";
import { targets } from "./targets.ts";

function elf(machine: number, loader: string): Buffer {
  const bytes = Buffer.alloc(256);
  bytes.writeUInt32BE(0x7f_45_4c_46, 0);
  bytes.writeUInt16LE(machine, 18);
  bytes.write(`${loader}\0`, 64);
  return bytes;
}

function macho(cpu: number, commands: readonly number[]): Buffer {
  const bytes = Buffer.alloc(256);
  bytes.writeUInt32LE(0xfeed_facf, 0);
  bytes.writeUInt32LE(cpu, 4);
  bytes.writeUInt32LE(commands.length, 16);
  for (const [index, command] of commands.entries()) {
    bytes.writeUInt32LE(command, 32 + index * 16);
    bytes.writeUInt32LE(16, 36 + index * 16);
  }
  return bytes;
}

function pe(machine: number): Buffer {
  const bytes = Buffer.alloc(256);
  bytes.write("MZ", 0);
  bytes.writeUInt32LE(128, 0x3c);
  bytes.write("PE\0\0", 128);
  bytes.writeUInt16LE(machine, 132);
  return bytes;
}

const right: Record<string, Buffer> = {
  "linux-x64": elf(0x3e, "/lib64/ld-linux-x86-64.so.2"),
  "linux-arm64": elf(0xb7, "/lib/ld-linux-aarch64.so.1"),
  "linux-x64-musl": elf(0x3e, "/lib/ld-musl-x86_64.so.1"),
  "linux-arm64-musl": elf(0xb7, "/lib/ld-musl-aarch64.so.1"),
  "macos-x64": macho(0x0100_0007, [0x19, 0x1d]),
  "macos-arm64": macho(0x0100_000c, [0x19, 0x1d]),
  "windows-x64": pe(0x8664),
};

describe.each(targets)("an executable for $name", (target) => {
  test("is accepted in its format", () => requireFormat(target, right[target.name]!));
  test.each(targets.filter(({ name }) => name !== target.name))("is refused as one for $name", (other) => {
    expect(() => requireFormat(target, right[other.name]!)).toThrow(`for ${target.name}`);
  });
});

test("an executable for macOS without a signature is refused, because the system would end it", () => {
  const unsigned = macho(0x0100_000c, [0x19]);
  expect(() => requireFormat({ name: "macos-arm64" }, unsigned)).toThrow("no signature");
});

test.skipIf(process.platform !== "linux")("the running executable is accepted for its own platform", async () => {
  const head = Buffer.from(
    await Bun.file(process.execPath)
      .slice(0, 1024 ** 2)
      .bytes(),
  );
  requireFormat({ name: `linux-${process.arch}` }, head);
});
