/** Why a node cannot take part, in one line: an address, a password, tables or a key that are not what they should be. */
export class ClusterError extends Error {
  override readonly name = "ClusterError";
}
