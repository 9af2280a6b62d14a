import { createRouter } from "@tanstack/react-router";
import { routeTree } from "./routes.tsx";

export const router = createRouter({ routeTree, basepath: "/dashboard", defaultPreload: false });

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
