import { createContext, useContext } from "react";

/** The file, on the server's machine, that its own certificate is verified by. Null where browsers trust it anyway. */
export const CaFileContext = createContext<string | null>(null);

/** What code needs to trust the address of this page. */
export function useCaFile(): string | null {
  const file = useContext(CaFileContext);
  return location.protocol === "https:" ? file : null;
}
