/** The file that says that the database beside it is a node's copy of a cell, which is thrown away at the node's next start. */
export const clusterMark = "cluster.json";
