import { cloneElement, lazy, useState } from "react";
import { LazyBoundary } from "../feedback/lazy-boundary.tsx";
import type { BaseMenuProps } from "./menu-parts.tsx";

/** Lazy: a page does not wait for its menus. */
const LoadedMenu = lazy(() => import("./menu-parts.tsx").then(({ BaseMenu }) => ({ default: BaseMenu })));

/** A menu with its trigger. The trigger renders immediately; a click before the menu has loaded opens it later. */
export function Menu(props: BaseMenuProps) {
  const [isOpenRequested, setIsOpenRequested] = useState(false);
  const early = cloneElement(props.trigger, { onClick: () => setIsOpenRequested(true), "aria-haspopup": "menu" });
  return (
    <LazyBoundary fallback={early}>
      <LoadedMenu {...props} defaultOpen={isOpenRequested} />
    </LazyBoundary>
  );
}
