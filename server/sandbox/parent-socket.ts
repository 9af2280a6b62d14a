/**
 * Where a jailed child holds a socket on which nothing is ever said. Its other end closes with the server, and that ends
 * the child: see {@link file://./drop-privileges.ts}.
 */
export const parentSocket = 3;
