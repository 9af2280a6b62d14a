import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readFilesSearch } from "../../features/files/read-files-search.ts";
import { shellAddress } from "../shell-address.ts";

/** Where `/dashboard/files` leads, and what its address holds. */
export const filesAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "/files",
  component: lazyRouteComponent(() => import("./files.tsx"), "FilesRoute"),
  validateSearch: readFilesSearch,
});
