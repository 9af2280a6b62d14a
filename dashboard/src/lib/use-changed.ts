import { useState } from "react";

/** Whether a value is another one by now than it was at first. */
export function useChanged(value: unknown): boolean {
  const text = JSON.stringify(value);
  const [first] = useState(text);
  return text !== first;
}
