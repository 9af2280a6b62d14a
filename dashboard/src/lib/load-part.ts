import { reportLost, responds, whenBack } from "./connection.ts";

/**
 * Loads a part of the dashboard's code. Waits while the server does not respond, so that the part comes by itself. Rejects
 * if the server responds without it, because it was upgraded.
 */
export async function loadPart<T>(load: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await load();
    } catch {
      if (await responds()) return await load();
      reportLost();
      await whenBack();
    }
  }
}
