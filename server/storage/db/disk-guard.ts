// The shared memory of the WAL is a file too, and an exceeded quota shows as a failed write.
const codes = new Set(["SQLITE_FULL", "SQLITE_IOERR_SHMSIZE", "SQLITE_IOERR_WRITE", "ENOSPC", "EDQUOT"]);

/** True if a write failed because the disk or the user's quota is full. */
export const isDiskFull = (error: unknown): boolean => codes.has(String((error as { code?: unknown } | null)?.code));
