import { AppError } from "../../domain/errors.ts";
import { clientTokenRefused } from "../../http/auth.ts";
import type { Api } from "../../http/internal-client.ts";
import { hasParts } from "../../lib/json.ts";
import { toSafeString } from "../../lib/safe-string.ts";
import type { AdminTool } from "./admin-tools.ts";
import { invalidParams, type Params, toRpcError } from "./protocol.ts";
import type { McpMethods } from "./server.ts";

/** The API's own operations, for keys with the scope "admin". */
export const adminMethods = ({ tools, api }: { tools: () => Map<string, AdminTool>; api: Api }): McpMethods => ({
  capabilities: { tools: {} },
  instructions: "Agents, runs and traces of a runnel server. Each tool is the operation of its API with that name.",
  admit({ scopes, token }) {
    if (token) throw clientTokenRefused("admin");
    if (scopes.has("admin")) return;
    const details = { required_scope: "admin" };
    throw new AppError("insufficient_scope", 'This needs the scope "admin".', { details });
  },
  methods: {
    "tools/list": () => ({ tools: [...tools().values()].map(({ shown }) => shown) }),
    async "tools/call"({ request, params }) {
      const { name, arguments: args = {} } = params;
      const tool = tools().get(toSafeString(name));
      if (!tool) throw invalidParams(`There is no tool ${toSafeString(name)}.`);
      if (!hasParts(args)) throw invalidParams("arguments: expected an object.");
      const { method, path, body } = tool.requestOf(args as Params);
      const answer = await api(request, method, path, body);
      if (answer.status === 429 || answer.status >= 500) throw toRpcError(answer);
      const content = [{ type: "text" as const, text: JSON.stringify(answer.body) }];
      return answer.status >= 400 ? { content, isError: true } : { content, structuredContent: answer.body };
    },
  },
});
