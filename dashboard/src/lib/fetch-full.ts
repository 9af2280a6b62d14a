import { get } from "./api.ts";

/** Returns the complete item; fetches it only if the list truncated it. */
export const fetchFull = async <T extends { truncated?: string[] }>(
  item: T,
  url: string,
  signal?: AbortSignal,
): Promise<T> => (item.truncated ? await get<T>(url, signal) : item);
