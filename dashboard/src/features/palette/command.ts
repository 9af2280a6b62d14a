import type { LucideIcon } from "lucide-react";

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
