type Environment = Record<string, string | undefined>;

/** For a command that works on the data directory of this machine, also where what started it takes part in a cluster. */
export function outsideCluster(environment: Environment): Environment {
  const { RUNNEL_CLUSTER: _, RUNNEL_CELL: __, ...rest } = environment;
  return rest;
}
