import { useQuery } from "@tanstack/react-query";
import { useMay } from "../session/use-may.ts";
import { serverQuery } from "./server-api.ts";

/** Whether there is a cluster to see: on one machine there is none, and it concerns owners alone. */
export function useClusterShown(): boolean {
  const may = useMay("owner");
  const { data } = useQuery(serverQuery);
  return may && data?.cell != null;
}
