import { Check, CircleSlash, Copy, KeyRound, Pause, ShieldX, X } from "lucide-react";
import type { TriggerOutcome, TriggerVerification } from "../../../../server/domain/api-types/enums.ts";
import type { Trigger } from "../../../../server/domain/api-types/trigger.ts";
import { type Look, LookPill, labelsOf } from "../../ui/data/pill.tsx";

/** Names of senders. */
export const senderNames: Record<TriggerVerification, string> = {
  github: "GitHub",
  stripe: "Stripe",
  slack: "Slack",
  standard_webhooks: "Standard Webhooks",
  shared_secret: "Shared secret",
};

const states = {
  active: ["ok", Check, "Active"],
  waiting: ["warn", KeyRound, "Needs its secret"],
  paused: ["plain", Pause, "Paused"],
} as const satisfies Record<string, Look>;

/** Status of a trigger. */
export const TriggerPill = ({ trigger: { enabled, has_secret } }: { trigger: Trigger }) => (
  <LookPill look={states[enabled ? (has_secret ? "active" : "waiting") : "paused"]} />
);

const looks: Record<TriggerOutcome, Look> = {
  started: ["ok", Check, "Started"],
  duplicate: ["plain", Copy, "Duplicate"],
  ignored: ["plain", CircleSlash, "Ignored"],
  failed: ["bad", X, "Failed"],
  refused: ["warn", ShieldX, "Refused"],
};

export const outcomeWords = labelsOf(looks);

/** Outcome of a request at a trigger. */
export const TriggerOutcomePill = ({ outcome }: { outcome: TriggerOutcome }) => <LookPill look={looks[outcome]} />;
