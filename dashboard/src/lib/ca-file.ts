import { createContext, useContext } from "react";

/** Path of the server's own CA certificate on its machine; null if browsers trust it anyway. */
export const CaFileContext = createContext<string | null>(null);

/** Returns the certificate that code needs to trust this page's address. */
export function useCaFile(): string | null {
  const file = useContext(CaFileContext);
  return location.protocol === "https:" ? file : null;
}
