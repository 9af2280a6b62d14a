import { useQuery } from "@tanstack/react-query";
import { usePermission } from "../session/use-may.ts";
import { serverQuery } from "./server-api.ts";

/** True if the cluster page is shown: there is a cluster, and the person is an owner. */
export function useClusterShown(): boolean {
  const may = usePermission("owner");
  const { data } = useQuery(serverQuery);
  return may && data?.cell != null;
}
