import { useEffect, useRef, useState } from "react";

const rest_ms = 250;

/**
 * A quickly changing search parameter, such as typed text or the replay position. The value changes immediately, the
 * address when it rests, because browsers limit address changes.
 */
export function useDebouncedParam<T extends string | number | undefined>(
  address: T,
  onRest: (value: T) => void,
): [T, (value: T) => void] {
  const [value, setValue] = useState(address);
  const latest = useRef(onRest);
  latest.current = onRest;
  const lastWritten = useRef(address);
  useEffect(() => {
    // The address was changed elsewhere, for example by Back.
    if (address !== lastWritten.current) setValue(address);
    lastWritten.current = address;
  }, [address]);
  useEffect(() => {
    if (value === lastWritten.current) return;
    const timer = setTimeout(() => {
      lastWritten.current = value;
      latest.current(value);
    }, rest_ms);
    return () => clearTimeout(timer);
  }, [value]);
  return [value, setValue];
}
