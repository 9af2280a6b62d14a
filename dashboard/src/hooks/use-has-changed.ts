import { useState } from "react";

/** True if the value differs from its first one. */
export function useHasChanged(value: unknown): boolean {
  const text = JSON.stringify(value);
  const [first] = useState(text);
  return text !== first;
}
