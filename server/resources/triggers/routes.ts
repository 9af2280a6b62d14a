import { Elysia } from "elysia";
import { Deleted, listOf } from "../../domain/api-types/schema.ts";
import { Trigger, TriggerDelivery } from "../../domain/api-types/trigger.ts";
import type { Auth } from "../../http/auth.ts";
import { listQuery, plainListQuery, readPage } from "../../http/page.ts";
import { pathOf } from "../../http/schemas.ts";
import { textBefore } from "../../lib/text-before.ts";
import type { TriggerDeliveries } from "./deliveries.ts";
import { type Receiver, statusOf } from "./receive.ts";
import { CreateTrigger, RotateTriggerSecret, triggerDeliveryFilters, triggerFilters, UpdateTrigger } from "./schema.ts";
import type { TriggerStore } from "./store.ts";

const params = pathOf("trigger");

interface TriggerRoutes {
  auth: Auth;
  triggers: TriggerStore;
  deliveries: TriggerDeliveries;
}

export const triggerRoutes = ({ auth, triggers, deliveries }: TriggerRoutes) =>
  new Elysia({ prefix: "/triggers", tags: ["Triggers"] })
    .use(auth)
    .post("/", async ({ principal, body, status }) => status(201, await triggers.create(principal, body)), {
      operation: {
        id: "triggers.create",
        summary: "Create a trigger",
        needs: "admin",
        creates: Trigger,
        errors: ["resource_not_found", "agent_ambiguous"],
        example: {
          name: "new issues",
          agent_id: "agt_01k6w3v5r8d2f9h1j4m7n0p3qs",
          verification: "github",
          input: "Triage this issue: {{body.issue.title}}",
          filter: [{ path: "body.action", in: ["opened"] }],
          thread: "body.issue.number",
        },
      },
      body: CreateTrigger,
    })
    .get("/", ({ principal, request }) => triggers.list(principal, readPage(request.url, triggerFilters)), {
      operation: {
        id: "triggers.list",
        summary: "List triggers",
        needs: "read",
        query: { ...listQuery, ...triggerFilters },
        returns: listOf(Trigger),
      },
    })
    .get("/:id", ({ principal, params }) => triggers.get(principal, params.id), {
      operation: {
        id: "triggers.retrieve",
        summary: "Retrieve a trigger",
        needs: "read",
        returns: Trigger,
      },
      params,
    })
    .patch("/:id", ({ principal, params, body }) => triggers.update(principal, params.id, body), {
      operation: {
        id: "triggers.update",
        summary: "Change a trigger, or enable or disable it",
        needs: "admin",
        returns: Trigger,
        errors: ["agent_ambiguous"],
        example: { on_missing: "reject", rate_limit_per_minute: 10 },
      },
      params,
      body: UpdateTrigger,
    })
    .delete("/:id", ({ principal, params }) => triggers.remove(principal, params.id), {
      operation: {
        id: "triggers.delete",
        summary: "Delete a trigger",
        needs: "admin",
        returns: Deleted,
      },
      params,
    })
    .post("/:id/rotate_secret", ({ principal, params, body }) => triggers.rotate(principal, params.id, body), {
      operation: {
        id: "triggers.rotate_secret",
        summary: "Rotate or set the secret of a trigger; until the overlap ends both are valid",
        needs: "admin",
        returns: Trigger,
        example: { overlap_seconds: 3600 },
      },
      params,
      body: RotateTriggerSecret,
    })
    .get(
      "/:id/deliveries",
      ({ principal, params, request }) =>
        deliveries.list(triggers.find(principal, params.id), readPage(request.url, triggerDeliveryFilters)),
      {
        operation: {
          id: "triggers.deliveries.list",
          summary: "List the requests at the address of a trigger with their outcomes",
          needs: "read",
          query: { ...plainListQuery, ...triggerDeliveryFilters },
          returns: listOf(TriggerDelivery),
        },
        params,
      },
    );

/** The addresses to which senders post events. They need no key: each event is signed. */
export const publicTriggerRoutes = ({ receive }: { receive: Receiver }) =>
  new Elysia().post(
    "/triggers/:id",
    async ({ params: { id }, request, set, status }) => {
      // In a cluster, the project follows the id, so that any node can find its cell.
      const receipt = await receive(textBefore(id ?? "", "."), request, String(set.headers["x-request-id"]));
      const { trigger, outcome, run_id, reason, challenge } = receipt;
      set.status = statusOf(trigger, outcome);
      set.headers["cache-control"] = "no-store";
      if (run_id !== null) set.headers["x-run-id"] = run_id;
      if (trigger.verification !== "slack")
        return status(statusOf(trigger, outcome), {
          object: "trigger_receipt",
          outcome,
          run_id,
          ...(outcome === "ignored" && { ignored: true, reason }),
        });
      // People see the response to a slash command of Slack, so there is nothing in it.
      return new Response(challenge ?? "", { headers: { "content-type": "text/plain" } });
    },
    { parse: "none" },
  );
