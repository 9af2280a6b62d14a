import { untilAborted } from "../lib/until-aborted.ts";
import type { Notice } from "./messages.ts";
import { Superseded } from "./turn.ts";

interface Waiter {
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

/** Notices that wait for an answer, each by its ticket. */
export function createTickets(send: (notice: Notice) => void) {
  const waiters = new Map<number, Waiter>();
  let last = 0;

  function settle(ticket: number, answer: (waiter: Waiter) => void): void {
    const waiter = waiters.get(ticket);
    waiters.delete(ticket);
    if (waiter) answer(waiter);
  }

  const refuse = (ticket: number): void => settle(ticket, (waiter) => waiter.reject(new Superseded()));

  return {
    /** Sends a notice and returns its answer. Throws `Superseded` when it is refused, or `signal` is aborted before. */
    wait<Answer>(notice: (ticket: number) => Notice, signal?: AbortSignal): Promise<Answer> {
      const ticket = ++last;
      send(notice(ticket));
      const forget = signal ? untilAborted([signal], () => refuse(ticket)) : () => {};
      return new Promise<Answer>((resolve, reject) =>
        waiters.set(ticket, { resolve: (answer) => resolve(answer as Answer), reject }),
      ).finally(forget);
    },
    answer: (ticket: number, answer: unknown): void => settle(ticket, (waiter) => waiter.resolve(answer)),
    refuse,
  };
}
