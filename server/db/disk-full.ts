// The shared memory of the log is a file too, and a quota is met as a write that fails.
const codes = new Set(["SQLITE_FULL", "SQLITE_IOERR_SHMSIZE", "SQLITE_IOERR_WRITE", "ENOSPC", "EDQUOT"]);

/** Whether a write failed because the disk, or the share of it that this user has, is used up. */
export const isDiskFull = (error: unknown): boolean => codes.has(String((error as { code?: unknown } | null)?.code));
