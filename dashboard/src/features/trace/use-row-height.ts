import { useSyncExternalStore } from "react";

const phone = "(max-width: 640px)";
/** On a phone the bar has a line of its own. */
const barLine = 16;

/** The height of a row of the tree: the dense row of the tokens, for a finger a taller one. */
export function useRowHeight(): number {
  return useSyncExternalStore(subscribe, rowHeight);
}

function rowHeight(): number {
  const dense = Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row-dense"));
  return (dense || 30) + (matchMedia(phone).matches ? barLine : 0);
}

function subscribe(listener: () => void): () => void {
  const queries = [phone, "(pointer: coarse)"].map((query) => matchMedia(query));
  for (const query of queries) query.addEventListener("change", listener);
  return () => {
    for (const query of queries) query.removeEventListener("change", listener);
  };
}
