import type { LucideIcon } from "lucide-react";

/** The commands in which each word begins a word, or stands somewhere in it; the former come first. */
export function findCommands(groups: readonly CommandGroup[], text: string): CommandGroup[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return groups
    .map(({ value, items }) => ({ value, items: words.length ? findIn(items, words) : items.filter(isShown) }))
    .filter(({ items }) => items.length > 0);
}

/**
 * What Enter means, where nothing was gone to by arrow or pointer: the first of what is seen. While some of that was found
 * for an earlier text, it is the first of what is known of this one, or nothing yet.
 */
export function firstCommand(
  seen: readonly CommandGroup[],
  { isOfText, known }: { isOfText: boolean; known: readonly CommandGroup[] },
): Command | undefined {
  return (isOfText ? seen : known)[0]?.items[0];
}

const isShown = ({ hidden }: Command): boolean => !hidden;

function findIn(items: readonly Command[], words: readonly string[]): Command[] {
  const found = items
    .map((item) => ({ item, rank: rankOf(item, words) }))
    .filter(({ rank }) => rank > 0)
    .sort((a, b) => b.rank - a.rank);
  return found.map(({ item }) => item);
}

function rankOf({ label, hint = "", also = "" }: Command, words: readonly string[]): number {
  const text = `${label} ${hint} ${also}`.toLowerCase();
  if (!words.every((word) => text.includes(word))) return 0;
  const name = label.toLowerCase();
  if (name.startsWith(words.join(" "))) return 3;
  return words.every((word) => ` ${name}`.includes(` ${word}`)) ? 2 : 1;
}

/** Something to go to or to do. */
export interface Command {
  id: string;
  label: string;
  icon: LucideIcon;
  /** Beside the label: what it is, or its key. */
  hint?: string;
  keys?: string;
  /** Further words by which it is found. */
  also?: string;
  /** Only found by its words: not in the list at rest. */
  hidden?: boolean;
  run: () => void;
}

/** Commands of a kind, under their name. */
export interface CommandGroup {
  value: string;
  items: Command[];
}
