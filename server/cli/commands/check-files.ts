import { existsSync } from "node:fs";
import { checkDataDir } from "../../storage/db/data-dir.ts";
import { readAcmeCacert, readTlsFiles } from "../serve/certificate-source.ts";
import { listenerOf } from "../serve/check-settings.ts";
import type { ListenFlags } from "../serve/listen-plan.ts";
import { refuseNetworkDisk } from "../serve/open-storage.ts";
import type { ServeFlags } from "../serve/settings.ts";

/** A fault of a file or folder that a setting names. */
interface FileFault {
  message: string;
  /** False if a server starts nevertheless, or if its user may have access that this user lacks. */
  isCertain: boolean;
}

type Flags = Omit<ServeFlags, "dataDir"> & { dataDir: string | undefined };

/**
 * Returns the faults that a start would find in the files and folders of settings. Opens them as a start does, but
 * changes nothing.
 */
export const checkFiles = (flags: Flags): FileFault[] =>
  [lookAtDataDir, lookAtCertificate].flatMap((check): FileFault[] => {
    try {
      const warning = check(flags);
      return warning === null ? [] : [{ message: warning, isCertain: false }];
    } catch (error) {
      const { message, cause } = error as Error;
      return (cause as NodeJS.ErrnoException | undefined)?.code === "EACCES"
        ? [{ message: `${message} Check it as the server's user.`, isCertain: false }]
        : [{ message, isCertain: true }];
    }
  });

function lookAtDataDir({ dataDir, allowNetworkFilesystem }: Flags): null {
  if (dataDir === undefined) return null;
  checkDataDir(dataDir);
  if (existsSync(dataDir)) refuseNetworkDisk(dataDir, allowNetworkFilesystem);
  return null;
}

/** Returns a warning, or null. */
function lookAtCertificate(flags: ListenFlags): string | null {
  const { tls = null } = listenerOf(flags) ?? {};
  if (tls === null || tls === "own") return null;
  if ("domains" in tls) return readAcmeCacert(tls) && null;
  return readTlsFiles(tls).expires_at_ms < Date.now() ? `The certificate --tls-cert ${tls.cert} has expired.` : null;
}
