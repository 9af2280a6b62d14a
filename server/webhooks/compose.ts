import type { Base, Part } from "../http/part.ts";
import type { Journals } from "../journal/compose.ts";
import type { Port } from "../lib/port.ts";
import { createSignal } from "../lib/signal.ts";
import type { Outcome } from "./attempt.ts";
import { createDeliveryStore } from "./deliveries.ts";
import { createDispatcher } from "./dispatch.ts";
import { createFollowers } from "./followers.ts";
import { createOutbox } from "./outbox.ts";
import { createPayloads, type Followed } from "./payload.ts";
import { createRecorder } from "./record.ts";
import { webhookRoutes } from "./routes.ts";
import { createWebhookStore } from "./store.ts";

export interface WebhookOptions {
  /** How long one attempt to reach a webhook may take; 15 s. */
  webhook_attempt_ms?: number;
}

/** Who is told of what happens, and that they are. */
export function composeWebhooks({
  journals,
  followed,
  webhook_attempt_ms: attempt_ms = 15_000,
  ...base
}: Base & WebhookOptions & { journals: Journals; followed: Port<Followed> }) {
  const { db } = base;
  const outbox = createOutbox(base);
  const record = createRecorder(base);
  const payloads = createPayloads({ db, journal: journals.journal, followed });
  const tried = createSignal<[Outcome]>();
  const dispatcher = createDispatcher({ ...base, record, payloads, attempt_ms, onTried: tried.tell });
  const webhooks = createWebhookStore({ ...base, trust: dispatcher.trust });
  const deliveries = createDeliveryStore({ ...base, dispatcher, record });
  const announced = () => dispatcher.wake(outbox.take());
  const followers = createFollowers({ ...base, outbox, announced });
  journals.project(outbox.project);
  journals.onCommit(announced);
  return {
    routes: (auth) => [webhookRoutes({ auth, webhooks, deliveries })],
    ports: {
      /** Within a write. */
      announce: outbox.announce,
      /** After a write that may have announced something. */
      announced,
      deliver: dispatcher.drain,
      /** Told what each attempt to deliver an event came to. */
      onTried: tried.listen,
      followers,
    },
    forget: [deliveries.forget],
    start: dispatcher.load,
    arrived: dispatcher.load,
    stop: dispatcher.stop,
  } satisfies Part;
}
