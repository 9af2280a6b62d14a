import { networkInterfaces } from "node:os";
import { type IpAddress, isLoopback, isSame, isUnspecified, parseAddress } from "./ip-address.ts";

/** An address of this server. Plain data, because it is sent to worker threads. */
export type SelfAddress = {
  /** Bind address of a listener (a wildcard means any address of this machine), or a host name of this server. */
  host: string;
  port: number;
  /** True if other machines share the name: it counts only if it resolves to this one. */
  shared?: boolean;
};

/** True if a destination is this server, by the requested name or the resolved address. */
export function isSelf(own: readonly SelfAddress[], host: string, port: number, address: IpAddress): boolean {
  return own.some((door) => {
    if (door.port !== port) return false;
    const bound = parseAddress(door.host);
    if (!bound || door.shared) return door.host === host && (!door.shared || isLocalAddress(address));
    if (isUnspecified(bound)) return isLocalAddress(address);
    // The system treats a connection to the unspecified address as one to loopback.
    return isSame(bound, address) || (isUnspecified(address) && isLoopback(bound));
  });
}

/** True if the address belongs to this machine. Not cached, because addresses change. */
export function isLocalAddress(address: IpAddress): boolean {
  if (isLoopback(address) || isUnspecified(address)) return true;
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return all.some((each) => {
    const localAddress = parseAddress(each.address);
    return localAddress !== null && isSame(localAddress, address);
  });
}
