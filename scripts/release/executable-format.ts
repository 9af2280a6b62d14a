import type { Target } from "./targets.ts";

// Numbers of the processors in each format.
const machines = {
  elf: { x64: 0x3e, arm64: 0xb7 },
  macho: { x64: 0x0100_0007, arm64: 0x0100_000c },
  pe: { x64: 0x8664, arm64: 0xaa64 },
};
const codeSignature = 0x1d; // The load command LC_CODE_SIGNATURE.

/** Throws if a program is not an executable for this platform; for macOS also if it has no signature. */
export function requireFormat({ name }: Pick<Target, "name">, program: Buffer): void {
  const [system, cpu, musl] = name.split("-") as [string, "x64" | "arm64", string?];
  const require = (holds: boolean, what: string) => {
    if (!holds) throw new Error(`The executable for ${name} ${what}.`);
  };
  if (system === "linux") {
    require(program.readUInt32BE(0) === 0x7f_45_4c_46, "is not in the format ELF");
    require(program.readUInt16LE(18) === machines.elf[cpu], "is for another processor");
    const loader =
      program
        .subarray(0, 64 * 1024)
        .toString("latin1")
        .match(/\/lib\d*\/ld-[\w.-]+/)?.[0] ?? "none";
    require(loader.includes("musl") === (musl !== undefined), `asks for the loader ${loader}`);
  } else if (system === "macos") {
    require(program.readUInt32LE(0) === 0xfeed_facf, "is not in the format Mach-O");
    require(program.readUInt32LE(4) === machines.macho[cpu], "is for another processor");
    require(loadCommandsOf(program).includes(codeSignature), "has no signature");
  } else {
    require(program.toString("latin1", 0, 2) === "MZ", "is not in the format PE");
    const header = program.readUInt32LE(0x3c);
    require(program.toString("latin1", header, header + 4) === "PE\0\0", "is not in the format PE");
    require(program.readUInt16LE(header + 4) === machines.pe[cpu], "is for another processor");
  }
}

/** Returns the numbers of a Mach-O file's load commands. */
function loadCommandsOf(program: Buffer): number[] {
  const count = program.readUInt32LE(16);
  const commands: number[] = [];
  for (let at = 32; commands.length < count; at += program.readUInt32LE(at + 4))
    commands.push(program.readUInt32LE(at));
  return commands;
}
