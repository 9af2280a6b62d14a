import { isStorageRefusal } from "./corruption.ts";

/**
 * Returns the result of reading a run's record, or null if it cannot be read. Rethrows SQLite errors other than
 * corruption, such as a full disk, because they say nothing about the record.
 */
export function nullIfUnreadable<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (isStorageRefusal(error)) throw error;
    return null;
  }
}
