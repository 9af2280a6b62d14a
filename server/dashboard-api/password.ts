import { AppError } from "../domain/errors.ts";

/** Password hashes of dashboard accounts (argon2id). */
export type Passwords = ReturnType<typeof createPasswords>;

const cost = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;
const atOnce = 2;
const maxWaiting = 32;
// Hash of an unknown password with the same cost, so that checking an unknown account takes equally long.
const decoy =
  "$argon2id$v=19$m=19456,t=2,p=1$qE5PoTLoD+e/IkF63suY/0YXp0o9zJeSSHh8lZZJJM0$kAxu60PDTmiuEvOkrwbiPn9F+p8QRYqaqTXNwUklK6k";

export function createPasswords() {
  const waiting: (() => void)[] = [];
  let running = 0;

  /** Limits concurrent hashes: each takes 19 MiB and a core. */
  async function bounded<T>(work: () => Promise<T>): Promise<T> {
    if (waiting.length >= maxWaiting)
      throw new AppError("overloaded", "Too many sign-ins at once. Try again in a moment.", { retryAfter: 2 });
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  }

  return {
    hash: (password: string): Promise<string> => bounded(() => Bun.password.hash(password, cost)),
    /** Always false for a null hash (no such account), after the same time as for a real one. */
    matches: (password: string, hash: string | null): Promise<boolean> =>
      bounded(async () => (await Bun.password.verify(password, hash ?? decoy)) && hash !== null),
  };
}
