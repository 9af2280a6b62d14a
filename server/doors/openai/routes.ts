import { Elysia } from "elysia";
import type { AgentStore } from "../../agents/store.ts";
import { AppError } from "../../core/errors.ts";
import { ofAgents } from "../../http/auth.ts";
import { readJsonBody } from "../../http/json-body.ts";
import { declared } from "../../http/operation.ts";
import type { Page } from "../../http/page.ts";
import type { Base } from "../../http/part.ts";
import type { Principal } from "../../http/principal.ts";
import type { DoorAccess } from "../../http/within.ts";
import type { Journal } from "../../journal/journal.ts";
import type { OpenStream } from "../../runs/open-stream.ts";
import type { RunStore } from "../../runs/store.ts";
import { chatDialect } from "./chat-dialect.ts";
import { type AskedChat, readChat } from "./chat-request.ts";
import { CreateChatCompletion } from "./chat-schema.ts";
import { createDoor, json, noRetry, readerOf } from "./door.ts";
import { noModel, ofMessages } from "./errors.ts";
import { withFetchedImages } from "./fetch-images.ts";
import { answerAt, createdAt, isOfSchema, lastAsked } from "./journal-places.ts";
import type { InputMessage } from "./request-fields.ts";
import { askerOf, handOver, type Results, submitResults, userLast } from "./results.ts";
import { embedderId } from "./stores/embeddings.ts";
import { wholly } from "./whole.ts";

interface Deps extends DoorAccess {
  agents: Pick<AgentStore, "list" | "get" | "has">;
  runs: Pick<RunStore, "askedBy" | "standing">;
  journal: Pick<Journal, "read" | "snapshot">;
  openStream: OpenStream;
  publicEgress: Base["publicEgress"];
}

const read = readerOf(CreateChatCompletion);

/** OpenAI's API as far as runs carry it. Whatever is done is done by the API, with its key and its rules. */
export function openAiRoutes({
  identify,
  noLongerValid,
  api,
  forward,
  countAhead,
  agents,
  runs,
  journal,
  openStream,
  publicEgress,
}: Deps) {
  const { guarded, must } = createDoor({ identify, api, forward });

  async function completion(request: Request, principal: Principal): Promise<Response> {
    const body = read(await readJsonBody(request));
    if (!agents.has(principal, body.model)) throw noModel(body.model);
    const asked = readChat(body);
    const { results } = asked;
    const asker = results && askerOf({ runs }, principal, results, (place) => `messages[${place}].tool_call_id`);
    if (asker && asker.agent_id !== body.model) await handOver({ must }, request, asker.id);
    const place =
      results && asker?.agent_id === body.model
        ? await submit(request, asker.id, results)
        : await create(request, principal, asker ? { ...asked, ...userLast(asked.run.input, asked.places) } : asked);
    const { run_id, seq } = place;
    const stream = body.stream === true;
    const dialect = chatDialect({
      ...{ id: `chatcmpl-${run_id.slice(run_id.indexOf("_") + 1)}`, model: body.model, stream },
      created: createdAt(journal, run_id),
      usage: body.stream_options?.include_usage === true,
      isJson: isOfSchema(journal, principal, run_id),
      answerAt: (at) => answerAt(journal, run_id, at),
    });
    const from = { seq, anchor: null, offset: 0 };
    const named = { "x-runnel-run-id": run_id };
    if (stream) {
      // There is no way back to a completion: who leaves its stream has stopped it.
      const response = openStream(principal, run_id, from, request, { noLongerValid, dialect, cancelOnLeave: true });
      response.headers.set("x-runnel-run-id", run_id);
      return response;
    }
    const whole = wholly(dialect);
    await openStream(principal, run_id, from, request, { noLongerValid, dialect: whole.dialect }).text();
    const result = dialect.result();
    if (!result) return whole.cutOff(named);
    if ("completion" in result) return json(200, result.completion, named);
    return json(result.failed.status, result.failed.body, { ...named, ...noRetry });
  }

  async function create(
    request: Request,
    principal: Principal,
    { run, places, messages = run.input }: AskedChat & { messages?: InputMessage[] },
  ) {
    const input = await withFetchedImages(messages, {
      ...{ principal, egress: publicEgress, signal: request.signal },
      count: () => countAhead(request, principal, "run_creations_per_minute"),
      param: (message, part) => `messages[${places[message]}].content[${part}].image_url.url`,
    });
    const made = await must(request, "POST", "/v1/runs", { ...run, input }).catch((error) => {
      throw ofMessages(error, places);
    });
    return { run_id: String(made.id), seq: 0 };
  }

  /** Results go to the run that asked for them; the same results again lead to what came of them. */
  async function submit(request: Request, run_id: string, results: Results) {
    await submitResults({ must }, request, run_id, results);
    return { run_id, seq: lastAsked(journal, run_id, new Set(results.answers.map((one) => one.tool_call_id))) };
  }

  async function models(principal: Principal): Promise<Response> {
    requireUse(principal);
    const found: object[] = [];
    for (let starting_after: string | null = null; ; ) {
      const list = await agents.list(principal, { ...firstPage, starting_after }, ofAgents(principal, "id"));
      found.push(...list.data.map(modelOf));
      if (!list.has_more) return json(200, { object: "list", data: [...found, embedder] });
      starting_after = list.last_id;
    }
  }

  function model(principal: Principal, id: string): Response {
    requireUse(principal);
    if (id === embedderId) return json(200, embedder);
    if (!agents.has(principal, id)) throw noModel(id);
    return json(200, modelOf(agents.get(principal, id)));
  }

  return (
    new Elysia({ prefix: "/openai/v1" })
      .get("/models", (context) => guarded(context, models))
      .get("/models/:id", (context) => guarded(context, (principal) => model(principal, context.params.id ?? "")))
      // Clients write the slash as it is, or escaped.
      .get(`/models/${embedderId}`, (context) => guarded(context, (principal) => model(principal, embedderId)))
      .post("/chat/completions", (context) => guarded(context, (principal) => completion(context.request, principal)), {
        parse: "none",
        ...declared({ needsRoom: false }),
      })
  );
}

const firstPage: Page = {
  ...{ limit: 100, order: "desc", starting_after: null, ending_before: null },
  ...{ created_at: [], metadata: [], filters: {} },
};

/** Throws where a key may neither read nor run. A client token sees the agent that it is for, whatever it may do. */
function requireUse({ scopes, token }: Principal): void {
  if (!token && !(["read", "run", "admin"] as const).some((scope) => scopes.has(scope)))
    throw new AppError("insufficient_scope", 'This needs the scope "read".');
}

const modelOf = ({ id, created_at }: { id: string; created_at: string }) => ({
  ...{ id, object: "model", created: Math.floor(Date.parse(created_at) / 1000), owned_by: "runnel" },
});

/** It was never made: it came with the server. */
const embedder = { id: embedderId, object: "model", created: 0, owned_by: "runnel" };
