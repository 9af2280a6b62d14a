import { type ComponentType, lazy } from "react";
import { loadPart } from "../lib/load-part.ts";

/**
 * A lazy part that belongs to its page: it appears as soon as the server responds. Not for dialogs and menus, which
 * would open too late.
 */
// biome-ignore lint/suspicious/noExplicitAny: React's own type for a component with any props.
export const lazyPart = <T extends ComponentType<any>>(load: () => Promise<{ default: T }>) =>
  lazy(() => loadPart(load));
