import { isStorageRefusal } from "./damage.ts";

/** What `read` makes of a run's record, or null where the record cannot be read. A full disk is nobody's damage. */
export function unlessDamaged<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (isStorageRefusal(error)) throw error;
    return null;
  }
}
