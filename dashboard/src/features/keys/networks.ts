/** Splits a text into networks, at spaces, line breaks and commas. */
export const readNetworks = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

/** Returns the fault of the first invalid network, or null. Checks only the syntax; the server checks the rest. */
export function networkFault(networks: readonly string[]): string | null {
  for (const network of networks) {
    const fault = faultOf(network);
    if (fault) return `${network} is not a network. ${fault}`;
  }
  return null;
}

function faultOf(network: string): string | null {
  const [address = "", mask, ...more] = network.split("/");
  const isV6 = address.includes(":");
  if (more.length > 0 || (!isV6 && !/^\d{1,3}(\.\d{1,3}){3}$/.test(address)))
    return "Must be a network such as 203.0.113.0/24.";
  if (!isV6 && address.split(".").some((part) => Number(part) > 255)) return "Each part of an address ends at 255.";
  if (mask === undefined) return `Add the mask: ${address}/${isV6 ? 128 : 32} is this address alone.`;
  const most = isV6 ? 128 : 32;
  if (!/^\d{1,3}$/.test(mask) || Number(mask) > most) return `An IPv${isV6 ? 6 : 4} mask ends at /${most}.`;
  return null;
}
