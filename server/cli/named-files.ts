import { existsSync } from "node:fs";
import { checkDataDir } from "../db/data-dir.ts";
import { readAcmeCacert, readTlsFiles } from "./certificate-source.ts";
import { listenerOf } from "./check-settings.ts";
import type { ListenFlags } from "./listen-plan.ts";
import { refuseNetworkDisk } from "./open-storage.ts";
import type { ServeFlags } from "./settings.ts";

/** What is wrong with a file or a folder that a setting names. */
interface FileFault {
  message: string;
  /** False where a server starts all the same, or where its user may see what this one may not. */
  isCertain: boolean;
}

type Flags = Omit<ServeFlags, "dataDir"> & { dataDir: string | undefined };

/** What a start finds wrong with the files and folders that settings name. Opens them as it does, and changes nothing. */
export const fileFaults = (flags: Flags): FileFault[] =>
  [lookAtDataDir, lookAtCertificate].flatMap((look): FileFault[] => {
    try {
      const warning = look(flags);
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

/** A warning, where there is one. */
function lookAtCertificate(flags: ListenFlags): string | null {
  const { tls = null } = listenerOf(flags) ?? {};
  if (tls === null || tls === "own") return null;
  if ("domains" in tls) return readAcmeCacert(tls) && null;
  return readTlsFiles(tls).expires_at_ms < Date.now() ? `The certificate --tls-cert ${tls.cert} has expired.` : null;
}
