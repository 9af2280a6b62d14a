import type { AuthorizationLink } from "../../domain/required-action.ts";
import type { Base, Module } from "../../http/module.ts";
import { createEventEmitter } from "../../lib/event-emitter.ts";
import type { Journals } from "../../storage/journal/module.ts";
import { createDeliveryStore } from "./deliveries.ts";
import { createDeliveryResults } from "./delivery-result.ts";
import { createDispatcher } from "./dispatch.ts";
import type { Outcome } from "./http-attempt.ts";
import { createOutbox } from "./outbox.ts";
import { createPayloads, type SerializeFollowed } from "./payload.ts";
import { webhookRoutes } from "./routes.ts";
import { createRunWebhooks } from "./run-webhooks.ts";
import { createWebhookStore } from "./store.ts";

export interface WebhookOptions {
  /** Milliseconds for one attempt; default: 15 s. */
  webhook_attempt_ms?: number;
}

export type WebhooksModule = ReturnType<typeof createWebhooksModule>;

interface Needs {
  base: Base;
  options: WebhookOptions;
  journals: Journals;
  serializeFollowed: SerializeFollowed;
  /** Returns the addresses at which the users of a project's runs consent. */
  linksOf(projectId: string): AuthorizationLink;
}

/** Webhooks and their deliveries. */
export function createWebhooksModule({ base, options, journals, serializeFollowed, linksOf }: Needs) {
  const { webhook_attempt_ms: attempt_ms = 15_000 } = options;
  const { db } = base;
  const outbox = createOutbox(base);
  const record = createDeliveryResults(base);
  const payloads = createPayloads({ db, journal: journals.journal, linksOf, serializeFollowed });
  const attemptEvents = createEventEmitter<[Outcome]>();
  const dispatcher = createDispatcher({ ...base, record, payloads, attempt_ms, onTried: attemptEvents.tell });
  const webhooks = createWebhookStore({ ...base, trust: dispatcher.trust });
  const deliveries = createDeliveryStore({ ...base, dispatcher, record });
  const announced = () => dispatcher.wake(outbox.take());
  const followers = createRunWebhooks({ ...base, outbox, announced });
  journals.project(outbox.project);
  journals.onCommit(announced);
  return {
    routes: (auth) => [webhookRoutes({ auth, webhooks, deliveries })],
    /** Call inside a write. */
    announce: outbox.announce,
    /** Call after a write that may have announced an event. */
    announced,
    deliver: dispatcher.drain,
    /** Registers a listener for the outcome of each attempt. */
    onTried: attemptEvents.listen,
    followers,
    deleteExpired: [deliveries.forget],
    start: dispatcher.load,
    onProjectArrived: dispatcher.load,
    stop: dispatcher.stop,
  } satisfies Module;
}
