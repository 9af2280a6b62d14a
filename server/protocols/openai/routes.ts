import { Elysia } from "elysia";
import type { ProtocolAccess } from "../../http/internal-client.ts";
import { readJsonBody } from "../../http/json-body.ts";
import { withDeclaration } from "../../http/operation.ts";
import type { Principal } from "../../http/principal.ts";
import { decodeUri } from "../../lib/safe-string.ts";
import type { RunStore } from "../../runs/store.ts";
import type { OpenSseResponse } from "../../runs/stream/sse-response.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import { createApiCalls, json, noRetry, readerOf } from "./api-calls.ts";
import { chatDialect } from "./chat-dialect.ts";
import { type AskedChat, chatFields, readChat } from "./chat-request.ts";
import { CreateChatCompletion } from "./chat-schema.ts";
import { ofMessages } from "./errors.ts";
import { createdAt, isOfSchema, lastQuestionSeq } from "./journal-places.ts";
import { createModels, type ModelDeps } from "./models.ts";
import type { InputMessage } from "./request-fields.ts";
import { askingRunOf, handOver, type Results, submitResults, userLast } from "./results.ts";
import { wholeRunEncoder } from "./whole.ts";

interface Deps extends ProtocolAccess, ModelDeps {
  runs: RunStore;
  journal: Journal;
  openStream: OpenSseResponse;
}

const read = readerOf(CreateChatCompletion);

/** Routes of OpenAI's API that runs can carry out. Every operation goes through the API, with its key and its rules. */
export function openAiRoutes({ identify, noLongerValid, api, forward, runs, journal, openStream, ...known }: Deps) {
  const { guarded, must } = createApiCalls({ identify, api, forward });
  const models = createModels({ ...known, must });

  async function completion(request: Request, principal: Principal): Promise<Response> {
    const parsedBody = read(await readJsonBody(request));
    const agent = await models.agentOf(request, principal, parsedBody.model);
    const body = { ...parsedBody, model: agent.reference };
    const chatRequest = readChat(body);
    const { results } = chatRequest;
    const askingRun = results && askingRunOf(runs, principal, results, (place) => `messages[${place}].tool_call_id`);
    if (askingRun && askingRun.agent_id !== agent.id) await handOver(must, request, askingRun.id);
    const place =
      results && askingRun?.agent_id === agent.id
        ? await submit(request, askingRun.id, results)
        : await create(
            request,
            askingRun ? { ...chatRequest, ...userLast(chatRequest.run.input, chatRequest.places) } : chatRequest,
          );
    const { run_id, seq } = place;
    const stream = body.stream === true;
    const dialect = chatDialect({
      id: `chatcmpl-${run_id.slice(run_id.indexOf("_") + 1)}`,
      model: parsedBody.model,
      stream,
      created: createdAt(journal, run_id),
      usage: body.stream_options?.include_usage === true,
      isJson: isOfSchema(journal, principal, run_id),
    });
    const from = { seq, anchor: null, offset: 0 };
    const runHeaders = { "x-runnel-run-id": run_id };
    if (stream) {
      // A completion cannot be resumed, so a disconnect cancels its run.
      const response = openStream(principal, run_id, from, request, { noLongerValid, dialect, cancelOnLeave: true });
      response.headers.set("x-runnel-run-id", run_id);
      return response;
    }
    const whole = wholeRunEncoder(dialect);
    await openStream(principal, run_id, from, request, { noLongerValid, dialect: whole.dialect }).text();
    const result = dialect.result();
    if (!result) return whole.cutOff(runHeaders);
    if ("completion" in result) return json(200, result.completion, runHeaders);
    return json(result.failed.status, result.failed.body, { ...runHeaders, ...noRetry });
  }

  async function create(
    request: Request,
    { run, places, messages = run.input }: AskedChat & { messages?: InputMessage[] },
  ) {
    const createdRun = await must(request, "POST", "/v1/runs", { ...run, input: messages }).catch((error) => {
      throw ofMessages(error, places, "messages", chatFields);
    });
    return { run_id: String(createdRun.id), seq: 0 };
  }

  /** Submits results to the run that asked. A retry leads to the same completion. */
  async function submit(request: Request, run_id: string, results: Results) {
    await submitResults(must, request, run_id, results);
    return { run_id, seq: lastQuestionSeq(journal, run_id, new Set(results.answers.map((one) => one.tool_call_id))) };
  }

  return (
    new Elysia({ prefix: "/openai/v1" })
      .get("/models", (context) =>
        guarded(context, async (principal) => json(200, { object: "list", data: await models.list(principal) })),
      )
      // Clients send the slash in a model's name plain or escaped.
      .get("/models/*", (context) =>
        guarded(context, (principal) => json(200, models.retrieve(principal, decodeUri(context.params["*"]) ?? ""))),
      )
      .post("/chat/completions", (context) => guarded(context, (principal) => completion(context.request, principal)), {
        parse: "none",
        ...withDeclaration({ needsRoom: false }),
      })
  );
}
