/** Where the systems that runnel is built for differ. What differs is asked for here, and nowhere else. */
export interface Platform {
  /** Code can be jailed: Landlock and seccomp. */
  jail: boolean;
  /** Threads have priorities of their own. */
  threadPriorities: boolean;
  /** New connections can be led from one process that listens to another, so that it takes over and refuses none. */
  leadsConnections: boolean;
  /** A process can begin anew under its id, with another environment. */
  beginsAnew: boolean;
  /** systemd runs services. */
  systemd: boolean;
  /** File systems are known by their numbers. */
  fileSystemTypes: boolean;
  /** Where the system tells of its processes; null: nowhere. */
  processes: "/proc" | null;
  /** A file's mode says who may read it. */
  modes: boolean;
  /** Names are durable when their folder was synced; elsewhere a folder cannot be opened, and need not be. */
  syncsFolders: boolean;
  /** A file can be deleted while a process has it open. */
  deletesOpenFiles: boolean;
  /** sqlite-vec's library, and the package of npm that has it. */
  vec: { file: string; package: string };
}

/** What holds for a system and a processor, as `process.platform` and `process.arch` name them. */
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

/** Of this process. */
export const platform: Platform = platformOf(process.platform, process.arch);
