import { Elysia } from "elysia";
import { noSuch } from "../../../domain/error-messages.ts";
import { AppError, type Fault, isRefusal } from "../../../domain/errors.ts";
import { fault, invalid, throwIfInvalid } from "../../../http/errors.ts";
import type { ProtocolAccess } from "../../../http/internal-client.ts";
import { readJsonBody } from "../../../http/json-body.ts";
import type { Principal } from "../../../http/principal.ts";
import { createApiCalls, json, readerOf } from "../api-calls.ts";
import { conversationId, messageOfItem, threadOf } from "../item-ids.ts";
import { listOfItems, readItemQuery } from "../item-page.ts";
import { CreateConversation, CreateItems, type InputItem, UpdateConversation } from "../item-schema.ts";
import { conversationOf, itemsOf, readItems, type ShownMessage } from "../items.ts";

interface Thread {
  id: string;
  created_at: string;
  metadata: object;
}

interface Asked {
  request: Request;
  principal: Principal;
  /** API path of the thread. */
  thread: string;
}

const readNew = readerOf(CreateConversation);
const readUpdate = readerOf(UpdateConversation);
const readNewItems = readerOf(CreateItems);

/** Conversations: each is a thread, and its items are made of the thread's messages. */
export function conversationRoutes(access: ProtocolAccess) {
  const { guarded, must, orUndo } = createApiCalls(access);

  /** Appends items to a conversation and returns them as stored. */
  async function add({ request, thread }: Asked, items: readonly InputItem[]): Promise<object[]> {
    const faults: Fault[] = [];
    const entries = readItems(items, "items", faults);
    for (const { is, place } of entries)
      if (is === "instruction" || is === "reference")
        faults.push(fault(`items[${place}]`, "A conversation takes what users, assistants and tools say."));
    throwIfInvalid(faults);
    const { messages, places } = conversationOf([], entries);
    const added: object[] = [];
    for (const [index, message] of messages.entries()) {
      const created = await must(request, "POST", `${thread}/messages`, message).catch((error) => {
        throw error instanceof AppError && error.param
          ? new AppError(error.code, error.message, { param: `items[${places[index]}].${error.param}` })
          : error;
      });
      added.push(...itemsOf(created));
    }
    return added;
  }

  async function create(request: Request, principal: Principal): Promise<Response> {
    const { items, metadata } = readNew(await readJsonBody(request));
    if (items?.length && principal.token)
      throw new AppError("insufficient_scope", "A client token says nothing but by runs.");
    const made: Thread = await must(request, "POST", "/v1/threads", { ...(metadata && { metadata }) });
    const thread = `/v1/threads/${made.id}`;
    await orUndo(request, thread, () => add({ request, principal, thread }, items ?? []));
    return json(200, toConversation(made));
  }

  async function update({ request, thread }: Asked): Promise<Response> {
    const { metadata } = readUpdate(await readJsonBody(request));
    return json(200, toConversation(await must(request, "PATCH", thread, { metadata: metadata ?? {} })));
  }

  async function addItems(call: Asked): Promise<Response> {
    const { items } = readNewItems(await readJsonBody(call.request));
    return json(200, listOfItems(await add(call, items), false));
  }

  /** Returns a page of whole messages, so it may have a few more items than requested. */
  async function list({ request, thread }: Asked): Promise<Response> {
    const { limit, order, after } = readItemQuery(request.url);
    const from = after === null ? null : messageOfItem(after);
    if (after !== null && from === null) throw noPlace();
    const query = `limit=${limit}&order=${order}${from ? `&starting_after=${from}` : ""}`;
    const { data, has_more } = await must(request, "GET", `${thread}/messages?${query}`).catch((error) => {
      throw isRefusal(error, "invalid_cursor") ? noPlace() : error;
    });
    const found: object[] = [];
    let count = 0;
    for (const message of data as ShownMessage[]) {
      const items = itemsOf(message);
      if (count > 0 && found.length + items.length > limit) break;
      found.push(...(order === "asc" ? items : items.toReversed()));
      count++;
    }
    return json(200, listOfItems(found, has_more || count < data.length));
  }

  async function retrieve({ request, thread }: Asked, id: string): Promise<Response> {
    const message = messageOfItem(id);
    const page = async (query: string): Promise<ShownMessage | undefined> =>
      (await must(request, "GET", `${thread}/messages?limit=1&order=asc${query}`)).data[0];
    const found = message === null ? undefined : await nextTo(message, page);
    const item = found && itemsOf(found).find((one) => "id" in one && one.id === id);
    if (!item) throw new AppError("resource_not_found", noSuch("item here"), { param: "item_id" });
    return json(200, item);
  }

  const withThread =
    (work: (asked: Asked, params: Record<string, string>) => Promise<Response>) =>
    (context: { request: Request; set: { headers: Record<string, unknown> }; params: Record<string, string> }) =>
      guarded(context, async (principal) => {
        const id = threadOf(context.params.id ?? "");
        if (!id) throw new AppError("resource_not_found", noSuch("conversation"), { param: "conversation_id" });
        return work({ request: context.request, principal, thread: `/v1/threads/${id}` }, context.params);
      });

  const parse = "none" as const;
  return new Elysia({ prefix: "/openai/v1/conversations" })
    .post("/", (context) => guarded(context, (by) => create(context.request, by)), { parse })
    .get(
      "/:id",
      withThread(async ({ request, thread }) => json(200, toConversation(await must(request, "GET", thread)))),
    )
    .post("/:id", withThread(update), { parse })
    .delete(
      "/:id",
      withThread(async ({ request, thread }, { id }) => {
        await must(request, "DELETE", thread);
        return json(200, { id, object: "conversation.deleted", deleted: true });
      }),
      { parse },
    )
    .get("/:id/items", withThread(list))
    .post("/:id/items", withThread(addItems), { parse })
    .get(
      "/:id/items/:item",
      withThread((asked, { item }) => retrieve(asked, item ?? "")),
    );
}

/** Returns the message `id`: the one after its predecessor. */
async function nextTo(
  id: string,
  page: (query: string) => Promise<ShownMessage | undefined>,
): Promise<ShownMessage | undefined> {
  try {
    const before = await page(`&ending_before=${id}`);
    return await page(before ? `&starting_after=${before.id}` : "");
  } catch (error) {
    if (isRefusal(error, "invalid_cursor")) return undefined;
    throw error;
  }
}

const toConversation = ({ id, created_at, metadata }: Thread) => ({
  id: conversationId(id),
  object: "conversation",
  created_at: Math.floor(Date.parse(created_at) / 1000),
  metadata,
});

const noPlace = () => invalid("after", noSuch("item here"));
