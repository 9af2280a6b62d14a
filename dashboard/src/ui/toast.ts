import { visibleText } from "../lib/visible-text.ts";

/** Something that was done, or was not: a line of some seconds. */
export interface Said {
  title: string;
  description?: string;
  /** In ms. */
  timeout: number;
  priority?: "high";
  type?: "failed";
}

/** What was said before there was a place for it. */
let early: Said[] = [];
let listener: ((said: Said) => void) | undefined;

/** Says for some seconds that something was done, in the words of the act: “Key created”. */
export function toast(title: string, description?: string): void {
  say({ title, description, timeout: 6000 });
}

/** Says that something was not done, and why. */
export function failed(title: string, description?: string): void {
  say({ title, description, timeout: 12_000, priority: "high", type: "failed" });
}

function say({ title, description, ...rest }: Said): void {
  // Its parts are no elements of ours.
  const said = { ...rest, title: visibleText(title), description: description && visibleText(description) };
  if (listener) listener(said);
  else early.push(said);
}

/** The one who shows what is said, what was said earlier first; answers how to stop listening. */
export function onToast(show: (said: Said) => void): () => void {
  listener = show;
  for (const each of early) show(each);
  early = [];
  return () => {
    listener = undefined;
  };
}
