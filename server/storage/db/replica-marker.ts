/**
 * Name of the file that marks the database beside it as a replica of a cell, which a node discards at its next start.
 */
export const replicaMarker = "cluster.json";
