import { get } from "./api.ts";

/** An item of a list with all that the list left out of it; others are whole already. */
export const wholeOf = async <T extends { truncated?: string[] }>(
  item: T,
  url: string,
  signal?: AbortSignal,
): Promise<T> => (item.truncated ? await get<T>(url, signal) : item);
