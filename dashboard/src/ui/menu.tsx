import { cloneElement, lazy, useState } from "react";
import { LoadedPart } from "./loaded-part.tsx";
import type { BaseMenuProps } from "./menu-parts.tsx";

/** Loaded apart, since a page need not wait for its menus. */
const LoadedMenu = lazy(() => import("./menu-parts.tsx").then(({ BaseMenu }) => ({ default: BaseMenu })));

/** A menu that opens from its trigger. The trigger stands at once; a click that comes too early is kept. */
export function Menu(props: BaseMenuProps) {
  const [wanted, setWanted] = useState(false);
  const early = cloneElement(props.trigger, { onClick: () => setWanted(true), "aria-haspopup": "menu" });
  return (
    <LoadedPart fallback={early}>
      <LoadedMenu {...props} defaultOpen={wanted} />
    </LoadedPart>
  );
}
