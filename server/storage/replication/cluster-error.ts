/** Thrown if a node cannot take part, with the reason in one line: a wrong address, password, table or key. */
export class ClusterError extends Error {
  override readonly name = "ClusterError";
}
