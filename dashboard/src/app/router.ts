import { createRouter } from "@tanstack/react-router";
import { toPublicUrl, toRouterUrl } from "../lib/workspace-address.ts";
import { PartError } from "./page-states.tsx";
import { routeTree } from "./routes.tsx";

export const router = createRouter({
  routeTree,
  basepath: "/dashboard",
  defaultPreload: false,
  defaultErrorComponent: PartError,
  rewrite: { input: ({ url }) => toRouterUrl(url), output: ({ url }) => toPublicUrl(url) },
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
