/**
 * File descriptor of a socket in a jailed child that carries no data. Its other end closes with the server, which kills
 * the child: see {@link file://./drop-privileges.ts}.
 */
export const parentSocket = 3;
