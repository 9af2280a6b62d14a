import { onAbort } from "../../lib/on-abort.ts";
import type { FromWorker } from "./messages.ts";
import { Superseded } from "./run-context.ts";

interface Waiter {
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

/** Requests awaiting a reply, by ticket. */
export function createPendingRequests(send: (message: FromWorker) => void) {
  const waiters = new Map<number, Waiter>();
  let last = 0;

  function settle(ticket: number, answer: (waiter: Waiter) => void): void {
    const waiter = waiters.get(ticket);
    waiters.delete(ticket);
    if (waiter) answer(waiter);
  }

  const refuse = (ticket: number): void => settle(ticket, (waiter) => waiter.reject(new Superseded()));

  return {
    /** Sends a request and returns its reply. Throws `Superseded` if it is refused or `signal` is aborted before. */
    wait<Answer>(message: (ticket: number) => FromWorker, signal?: AbortSignal): Promise<Answer> {
      const ticket = ++last;
      send(message(ticket));
      const forget = signal ? onAbort([signal], () => refuse(ticket)) : () => {};
      return new Promise<Answer>((resolve, reject) =>
        waiters.set(ticket, { resolve: (answer) => resolve(answer as Answer), reject }),
      ).finally(forget);
    },
    answer: (ticket: number, answer: unknown): void => settle(ticket, (waiter) => waiter.resolve(answer)),
    refuse,
  };
}
