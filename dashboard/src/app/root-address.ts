import { createRootRoute, Outlet } from "@tanstack/react-router";
import { PageError } from "./page-states.tsx";

/** All addresses stand below it. */
export const rootAddress = createRootRoute({
  component: Outlet,
  errorComponent: PageError,
});
