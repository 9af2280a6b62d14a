import { existsSync, readFileSync } from "node:fs";
import { release } from "node:os";

/** Facts about the system that the jail depends on. */
export interface JailFacts {
  /** Kernel release, such as `6.1.0`. */
  kernel: string;
  /** The kernel's security modules; null if unknown. */
  modules: string | null;
  /** True if a container or service manager has installed a seccomp filter on this process. */
  filtered: boolean;
  container: boolean;
}

/** Returns how to change this machine for a full jail; null if unknown. */
export function jailAdvice(faults: readonly string[], facts: JailFacts = factsHere()): string | null {
  const faultText = faults.join(" ");
  if (/Landlock was refused/.test(faultText)) {
    if (isOlder(facts.kernel, 5, 13)) return `Landlock needs Linux 5.13 or newer, and this is ${facts.kernel}`;
    if (facts.modules !== null && !facts.modules.split(",").includes("landlock"))
      return `Landlock is switched off: start the kernel with lsm=landlock,${facts.modules}`;
    return facts.filtered
      ? allowCalls(facts, "landlock_create_ruleset, landlock_add_rule, landlock_restrict_self")
      : null;
  }
  if (/seccomp was refused/.test(faultText) && facts.filtered) return allowCalls(facts, "prctl and seccomp");
  if (/closing of files was refused/.test(faultText))
    return facts.filtered ? allowCalls(facts, "close_range") : "close_range needs Linux 5.11 or newer";
  return null;
}

const allowCalls = ({ container }: JailFacts, calls: string): string =>
  container
    ? `The container's seccomp profile must allow ${calls}: the default profile of Docker 23 and Podman 4 does. No capability is needed`
    : `The filter of system calls of this service must allow ${calls}: SystemCallFilter=@system-service does from systemd 250 on`;

function isOlder(kernel: string, major: number, minor: number): boolean {
  const [a = 0, b = 0] = kernel.split(".").map((part) => Number.parseInt(part, 10));
  return a < major || (a === major && b < minor);
}

function factsHere(): JailFacts {
  return {
    kernel: release(),
    modules: read("/sys/kernel/security/lsm")?.trim() ?? null,
    filtered: /^Seccomp:\s+2$/m.test(read("/proc/self/status") ?? ""),
    container: existsSync("/.dockerenv") || existsSync("/run/.containerenv"),
  };
}

function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
