import { networkInterfaces } from "node:os";
import { type IpAddress, isLoopback, isSame, isUnspecified, parseAddress } from "./ip-address.ts";

/** A way into this server itself. Plain data: it crosses to worker threads as it is. */
export type OwnAddress = {
  /** What a listener is bound to (a wildcard: any address of this machine), or a name that leads here. */
  host: string;
  port: number;
  /** Others may be behind the same name, at another machine: only what leads to this one is meant. */
  shared?: boolean;
};

/** Whether a destination is this server, by the name that was asked for or by one of the addresses that it has. */
export function isOwn(own: readonly OwnAddress[], host: string, port: number, address: IpAddress): boolean {
  return own.some((door) => {
    if (door.port !== port) return false;
    const bound = parseAddress(door.host);
    if (!bound || door.shared) return door.host === host && (!door.shared || isHere(address));
    if (isUnspecified(bound)) return isHere(address);
    // The system takes a connection to no address for one to loopback.
    return isSame(bound, address) || (isUnspecified(address) && isLoopback(bound));
  });
}

/** Whether it is an address of this machine. Asked each time, since addresses change. */
export function isHere(address: IpAddress): boolean {
  if (isLoopback(address) || isUnspecified(address)) return true;
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return all.some((each) => {
    const ours = parseAddress(each.address);
    return ours !== null && isSame(ours, address);
  });
}
