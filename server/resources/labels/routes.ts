import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { AgentLabel, AgentLabelReport, AgentLabelRevision } from "../../domain/api-types/label.ts";
import { Deleted, listOf } from "../../domain/api-types/schema.ts";
import { type Auth, requireAgent } from "../../http/auth.ts";
import { invalid } from "../../http/errors.ts";
import { forwardQuery, readPage } from "../../http/page.ts";
import type { Principal } from "../../http/principal.ts";
import { idOf, pathOf, pathWith } from "../../http/schemas.ts";
import { about } from "../../lib/schema.ts";
import { LabelName, PutLabel, RollBackLabel } from "./schema.ts";
import type { LabelStore } from "./store.ts";

const ofAgent = { id: about("The id.", idOf("agent")) };
const params = pathWith({ ...ofAgent, label: about("The label's name.", LabelName) });
const revisionNumber = Type.String({ pattern: "^[1-9]\\d{0,14}$" });

/** `/v1/agents/:id/labels`: names of versions, which runs can ask for. */
export const labelRoutes = ({ auth, labels }: { auth: Auth; labels: LabelStore }) =>
  new Elysia({ prefix: "/agents", tags: ["Agents"] })
    .use(auth)
    .get("/:id/labels", ({ principal, params: { id } }) => labels.list(principal, id), {
      operation: {
        id: "agents.labels.list",
        summary: "List the labels of an agent",
        needs: "read",
        returns: listOf(AgentLabel),
      },
      params: pathOf("agent"),
    })
    .get("/:id/labels/:label", ({ principal, params: { id, label } }) => labels.get(principal, id, label), {
      operation: {
        id: "agents.labels.retrieve",
        summary: "Retrieve a label of an agent",
        needs: "read",
        returns: AgentLabel,
      },
      params,
    })
    .put("/:id/labels/:label", ({ principal, params: { id, label }, body }) => labels.put(principal, id, label, body), {
      operation: {
        id: "agents.labels.set",
        summary: "Set a label to a version, or split it over two",
        needs: "admin",
        path: { ...ofAgent, label: about("The label's name.", LabelName) },
        returns: AgentLabel,
        errors: ["version_conflict"],
      },
      params: pathWith({ ...ofAgent, label: Type.String() }),
      body: PutLabel,
    })
    .delete("/:id/labels/:label", ({ principal, params: { id, label } }) => labels.remove(principal, id, label), {
      operation: {
        id: "agents.labels.delete",
        summary: "Delete a label of an agent",
        needs: "admin",
        returns: Deleted,
      },
      params,
    })
    .post(
      "/:id/labels/:label/rollback",
      ({ principal, params: { id, label }, body }) => labels.rollBack(principal, id, label, body),
      {
        operation: {
          id: "agents.labels.rollback",
          summary: "Roll a label back to what it held before",
          needs: "admin",
          needsRoom: false,
          returns: AgentLabel,
          errors: ["version_conflict", "label_has_no_past"],
        },
        params,
        body: RollBackLabel,
      },
    )
    .get("/:id/labels/:label/revisions", (context) => listRevisions(labels, context), {
      operation: {
        id: "agents.labels.revisions.list",
        summary: "List where a label has been, newest first",
        needs: "read",
        query: {
          limit: forwardQuery.limit,
          starting_after: about("A cursor: returns the items after it.", revisionNumber),
        },
        returns: listOf(AgentLabelRevision),
      },
      params,
    })
    .get("/:id/labels/:label/report", ({ principal, params: { id, label } }) => labels.report(principal, id, label), {
      operation: {
        id: "agents.labels.report.retrieve",
        summary: "Compare the versions that a label holds",
        needs: "read",
        returns: AgentLabelReport,
      },
      params,
    });

interface Listed {
  principal: Principal;
  params: { id: string; label: string };
  request: Request;
}

function listRevisions(labels: LabelStore, { principal, params: { id, label }, request: { url } }: Listed) {
  requireAgent(principal, id);
  const { limit, starting_after } = readPage(url);
  if (starting_after !== null && !/^[1-9]\d{0,14}$/.test(starting_after))
    throw invalid("starting_after", "Must be the number of a revision.");
  return labels.revisions(principal, id, label, limit, starting_after === null ? null : Number(starting_after));
}
