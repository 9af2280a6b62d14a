import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Webhook } from "../../../../server/wire/webhook.ts";
import { type MadeWebhook, redeliver, testWebhook, webhookApi } from "../../entities/webhook/webhook-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { failed, toast } from "../../ui/toast.ts";
import { testWords } from "./test-words.ts";

/** What is being done to a webhook, in its dialog. */
export type WebhookAct =
  | { kind: "create" }
  | { kind: "reveal"; made: MadeWebhook }
  | { kind: "edit" | "rotate" | "redeliver" | "switch-off" | "delete"; webhook: Webhook };

/** Reads all that tells of webhooks anew. */
export function useRefreshWebhooks(): () => Promise<void> {
  const client = useQueryClient();
  const at = useWorkspace();
  return () => client.invalidateQueries(webhookApi.all(at));
}

/** Sends an event that was made for it, and says what was answered. Who goes to it asks for that with `mutate`: nobody
 * who has left meanwhile is brought back. */
export function useTestWebhook() {
  const at = useWorkspace();
  const refresh = useRefreshWebhooks();
  return useMutation({
    mutationFn: (id: string) => testWebhook(at, id),
    onSuccess: (delivery) => {
      toast(delivery.status === "delivered" ? "Test event taken" : "Test event not taken", testWords(delivery));
      void refresh();
    },
  });
}

/** Switches a webhook on or off. */
export function useSwitchWebhook() {
  const at = useWorkspace();
  const refresh = useRefreshWebhooks();
  return useMutation({
    mutationFn: ({ id, enabled }: { id: string; enabled: boolean }) => webhookApi.change(at, id, { enabled }),
    onSuccess: async (_, { enabled }) => {
      toast(enabled ? "Webhook switched on" : "Webhook switched off");
      await refresh();
    },
    onError: (error, { enabled }) => failed(`The webhook was not switched ${enabled ? "on" : "off"}`, error.message),
  });
}

/** Sends an event again, under its own id. */
export function useSendAgain(webhookId: string) {
  const at = useWorkspace();
  const refresh = useRefreshWebhooks();
  return useMutation({
    mutationFn: (delivery: string) => redeliver(at, webhookId, delivery),
    onSuccess: async () => {
      toast("Event sent again", "Under the same id, so that who took it already can tell.");
      await refresh();
    },
  });
}
