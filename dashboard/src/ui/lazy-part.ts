import { type ComponentType, lazy } from "react";
import { loadPart } from "../lib/load-part.ts";

/**
 * A part of a page that is loaded apart and belongs to it: it comes as soon as the server responds. A dialog or a menu is
 * none, because it would open over what is done by then.
 */
// biome-ignore lint/suspicious/noExplicitAny: as React has it, a component may take any properties.
export const lazyPart = <T extends ComponentType<any>>(load: () => Promise<{ default: T }>) =>
  lazy(() => loadPart(load));
