import { useRouter } from "@tanstack/react-router";
import { useEffect } from "react";

/** After navigation, moves the focus to the page's heading unless the page has moved it itself. */
export function useFocusPage(): void {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe("onRendered", ({ pathChanged, fromLocation }) => {
        if (!pathChanged || !fromLocation) return;
        const main = document.getElementById("main");
        const active = document.activeElement;
        const isElsewhere = active?.closest("[role=dialog],[role=alertdialog],[role=menu]");
        if (!main || main === active || main.contains(active) || isElsewhere) return;
        const heading = main.querySelector("h1") ?? main;
        heading.tabIndex = -1;
        heading.focus({ preventScroll: true });
      }),
    [router],
  );
}
