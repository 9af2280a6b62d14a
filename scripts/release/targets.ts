/** A platform of a release. */
export interface Target {
  /** Part of the archive's name: the system, the processor and, if it is not glibc, the C library. */
  name: string;
  bun: Bun.Build.CompileTarget;
  /** npm packages: Bun's executable, and sqlite-vec's library. */
  runtime: string;
  vec: string;
  archive: "tar.xz" | "zip";
}

const linux = (cpu: "x64" | "arm64", musl = false): Target => ({
  name: `linux-${cpu}${musl ? "-musl" : ""}`,
  bun: `bun-linux-${cpu}${musl ? "-musl" : ""}`,
  runtime: `@oven/bun-linux-${bunCpu(cpu)}${musl ? "-musl" : ""}`,
  vec: `sqlite-vec-linux-${cpu}`,
  archive: "tar.xz",
});

const macos = (cpu: "x64" | "arm64"): Target => ({
  name: `macos-${cpu}`,
  bun: `bun-darwin-${cpu}`,
  runtime: `@oven/bun-darwin-${bunCpu(cpu)}`,
  vec: `sqlite-vec-darwin-${cpu}`,
  archive: "tar.xz",
});

const bunCpu = (cpu: "x64" | "arm64"): string => (cpu === "arm64" ? "aarch64" : cpu);

export const targets: readonly Target[] = [
  linux("x64"),
  linux("arm64"),
  linux("x64", true),
  linux("arm64", true),
  macos("x64"),
  macos("arm64"),
  {
    name: "windows-x64",
    bun: "bun-windows-x64",
    runtime: "@oven/bun-windows-x64",
    vec: "sqlite-vec-windows-x64",
    archive: "zip",
  },
];

/** True if this machine is of that platform: its build can run here, and may contain bytecode. */
export const isOwn = ({ name }: Target): boolean =>
  name === `${process.platform === "darwin" ? "macos" : process.platform}-${process.arch}`;
