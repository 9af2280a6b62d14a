import { useSessionUser } from "./use-may.ts";

/** The name that something is kept under for who is signed in: whoever signs in next at this tab does not read it. */
export function useKeptName(name: string): string {
  return `${useSessionUser()?.id ?? ""}.${name}`;
}
