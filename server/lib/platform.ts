/** Differences between the supported operating systems, all in this place. */
export interface Platform {
  /** True if code can be jailed (Landlock and seccomp). */
  jail: boolean;
  /** True if threads have priorities of their own. */
  threadPriorities: boolean;
  /** True if new connections can be handed from one listening process to another, so that a restart refuses none. */
  leadsConnections: boolean;
  /** True if a process can re-execute itself under the same pid with another environment. */
  beginsAnew: boolean;
  /** True if systemd runs services. */
  systemd: boolean;
  /** True if file systems are identified by type numbers. */
  fileSystemTypes: boolean;
  /** Folder with process information; null if the system has none. */
  processes: "/proc" | null;
  /** True if a file's mode controls who may read it. */
  modes: boolean;
  /** True if a folder must be synced to make its file names durable; on other systems it cannot be opened. */
  syncsFolders: boolean;
  /** True if an open file can be deleted. */
  deletesOpenFiles: boolean;
  /** sqlite-vec's library, and its npm package. */
  vec: { file: string; package: string };
}

/** Returns the properties of a system, named by the values of `process.platform` and `process.arch`. */
export function platformOf(system: string, cpu: string): Platform {
  const [linux, windows] = [system === "linux", system === "win32"];
  const ending = windows ? "dll" : system === "darwin" ? "dylib" : "so";
  return {
    jail: linux,
    threadPriorities: linux,
    leadsConnections: linux,
    beginsAnew: linux,
    systemd: linux,
    fileSystemTypes: linux,
    processes: linux ? "/proc" : null,
    modes: !windows,
    syncsFolders: !windows,
    deletesOpenFiles: !windows,
    vec: { file: `vec0.${ending}`, package: `sqlite-vec-${windows ? "windows" : system}-${cpu}` },
  };
}

/** Properties of the current system. */
export const platform: Platform = platformOf(process.platform, process.arch);
