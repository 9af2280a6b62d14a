import { createRouter } from "@tanstack/react-router";
import { toInner, toOuter } from "../lib/workspace-address.ts";
import { PartError } from "./page-states.tsx";
import { routeTree } from "./routes.tsx";

export const router = createRouter({
  routeTree,
  basepath: "/dashboard",
  defaultPreload: false,
  defaultErrorComponent: PartError,
  rewrite: { input: ({ url }) => toInner(url), output: ({ url }) => toOuter(url) },
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
