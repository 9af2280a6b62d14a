type Environment = Record<string, string | undefined>;

/** Removes the cluster's variables, for a command that works on this machine's data directory. */
export function outsideCluster(environment: Environment): Environment {
  const { RUNNEL_CLUSTER: _, RUNNEL_CELL: __, ...rest } = environment;
  return rest;
}
