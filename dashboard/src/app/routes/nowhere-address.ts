import { createRoute } from "@tanstack/react-router";
import { NoPage } from "../page-states.tsx";
import { shellAddress } from "../shell-address.ts";

/** Where every other address leads: nowhere, but with the way to all pages beside it. */
export const nowhereAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "$",
  component: NoPage,
});
