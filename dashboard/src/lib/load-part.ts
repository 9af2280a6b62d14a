import { isServerUp, reportConnectionLost, waitForConnection } from "./connection.ts";

/**
 * Loads a part of the dashboard's code. While the server does not respond, waits and retries. Rejects if the server
 * responds without the part: it was upgraded.
 */
export async function loadPart<T>(load: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await load();
    } catch {
      if (await isServerUp()) return await load();
      reportConnectionLost();
      await waitForConnection();
    }
  }
}
