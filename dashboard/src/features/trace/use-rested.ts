import { useEffect, useRef, useState } from "react";

const rest_ms = 250;

/**
 * A value of the address that changes quickly: what is typed, where a replay stands. It changes at once; the address
 * hears of it when it rests, since a browser takes only so many changes of an address in a time.
 */
export function useRested<T extends string | number | undefined>(
  address: T,
  onRest: (value: T) => void,
): [T, (value: T) => void] {
  const [value, setValue] = useState(address);
  const latest = useRef(onRest);
  latest.current = onRest;
  const written = useRef(address);
  useEffect(() => {
    // The address was changed by somebody else: the browser's way back, say.
    if (address !== written.current) setValue(address);
    written.current = address;
  }, [address]);
  useEffect(() => {
    if (value === written.current) return;
    const timer = setTimeout(() => {
      written.current = value;
      latest.current(value);
    }, rest_ms);
    return () => clearTimeout(timer);
  }, [value]);
  return [value, setValue];
}
