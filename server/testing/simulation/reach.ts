import type { ModelRequest } from "../../domain/model-call.ts";
import type { Adapters } from "../../runtime/agent-loop/adapters.ts";
import { run as runAgentTool } from "../../runtime/agent-loop/tools/agent.ts";
import type { ToolContext } from "../../runtime/agent-loop/tools/context.ts";
import { run as runSkillTool } from "../../runtime/agent-loop/tools/skill.ts";
import { type ToolResult, toolError as toolFailed } from "../../runtime/agent-loop/tools/tool-result.ts";
import type { Model, ModelError, ModelEvent, ModelUsage } from "../../runtime/models/model.ts";
import { unknownUsage } from "../../runtime/models/model.ts";
import { type Accounts, mailTool } from "./accounts.ts";
import { skillName, skillPaths } from "./skills.ts";
import type { SimulatedThread } from "./threads.ts";
import type { Witness } from "./witness.ts";
import type { World } from "./world.ts";

/** Models and tools of the world: their behavior is random, and the witness receives their requests. */
export const reachOf =
  (world: World, witness: Witness, accounts: Accounts) =>
  (thread: SimulatedThread): Adapters => ({
    model: ({ run_id, attempt, agent, model }): Model => ({
      async *stream(request, signal) {
        if (thread.dead) await never();
        witness.modelAsked(run_id, attempt, agent, `test/${model}`, request);
        // An agent with several models meets outages of the first one.
        const isAway = agent.models?.[0] === `test/${model}` && world.chance(0.3);
        for (const event of isAway ? [away(world)] : plan(world, request)) {
          if (event === "silence") await aborted(signal);
          else await world.wait(`${thread.name}: model, ${event.type}`, thread);
          if (signal.aborted || event === "silence") return yield failed("aborted", true, true);
          yield event;
        }
      },
    }),
    tools: ({ run_id, attempt }, ask) => ({
      runTool: async (call, tool, signal) => {
        if (thread.dead) await never();
        if (tool.type === "agent") return runAgentTool(call, tool, { ask } as ToolContext, signal);
        // Before the request, as the token is.
        const missing = await accounts.missingFor(run_id, tool.name);
        if (missing) return missing;
        witness.toolAsked(run_id, attempt, call, tool);
        if (tool.type === "skill") return runSkillTool(call, tool, { ask } as ToolContext, signal);
        await world.wait(`${thread.name}: tool ${tool.name}`, thread);
        return outcome(world);
      },
      keepFile: () => Promise.reject(new Error("Nothing here makes a file.")),
      close() {},
    }),
  });

const never = () => new Promise<never>(() => {});
const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve());
  });

const used: ModelUsage = { input_tokens: 10, output_tokens: 5, cached_input_tokens: 0, reasoning_tokens: 0 };

function plan(world: World, { tools }: ModelRequest): (ModelEvent | "silence")[] {
  const fate = world.random();
  const said = words(world);
  if (fate < 0.06) return [failed("busy", true)];
  if (fate < 0.09) return [...said, failed("broke off", true)];
  if (fate < 0.11) return [...said, failed("refused", false)];
  if (fate < 0.115) return [...said, "silence"];
  if (fate < 0.125) return [failed("too long", false, false, "context_length_exceeded")];
  const done: ModelEvent = { type: "done", finish: "stop", usage: world.chance(0.7) ? used : unknownUsage };
  if (fate < 0.13) return [done];
  if (fate < 0.6 && tools.length > 0) return [...said, ...asking(world, tools), done];
  return [...said, done];
}

function words(world: World): ModelEvent[] {
  const kind = world.chance(0.2) ? "reasoning" : "output";
  return Array.from({ length: world.int(3) }, (_, index) => ({
    type: "delta",
    part: kind === "output" ? 1 : 0,
    kind,
    text: `word${index} `.repeat(world.chance(0.1) ? 100 : 1),
  }));
}

function asking(world: World, tools: ModelRequest["tools"]): ModelEvent[] {
  return Array.from({ length: 1 + world.int(3) }, (_, index) => {
    const fault = world.random();
    const name = fault < 0.04 ? "nobody" : fault < 0.08 ? "safe" : chosen(world, tools);
    return { type: "tool_call", part: 2 + index, name, arguments: fault > 0.97 ? "{" : argumentsFor(world, name) };
  });
}

/** Chooses a tool: calls that need a consent are more frequent than others, because most happens around them. */
function chosen(world: World, tools: ModelRequest["tools"]): string {
  const isMail = tools.some(({ name }) => name === mailTool) && world.chance(0.4);
  return isMail ? mailTool : world.pick(tools).name;
}

/** Arguments of a call. A model may name a tool that it has not loaded, or a file that is not there. */
function argumentsFor(world: World, name: string): string {
  if (name === "search_tools")
    return JSON.stringify({ query: world.pick(["select:safe,once", "look", "sign", "tune"]) });
  if (name === "load_skill") return JSON.stringify({ name: skillName });
  if (name === "read_skill_file") return JSON.stringify({ name: skillName, path: world.pick(skillPaths) });
  return '{"n":1}';
}

function failed(
  message: string,
  retryable: boolean,
  isAborted = false,
  code: ModelError["code"] = "model_error",
): ModelEvent {
  const error: ModelError = { code, message, retryable, retry_after_ms: null, aborted: isAborted, request: "answered" };
  return { type: "error", error, usage: unknownUsage };
}

/** Failure of a whole server: it is not reached, refuses the credentials, or has reached its limit. */
function away(world: World): ModelEvent {
  const fate = world.random();
  if (fate < 0.4) return failed("refused", false, false, "model_not_available");
  if (fate < 0.7) return failed("limited", true, false, "model_rate_limited");
  return failed("away", true);
}

function outcome(world: World): ToolResult {
  const fate = world.random();
  if (fate < 0.8) return { output: { done: true }, error: null, attempts: 1 };
  if (fate < 0.85) return toolFailed("timeout", "It took too long.", 1, "sent");
  if (fate < 0.88) return toolFailed("connect_failed", "Nobody is there.", 1, "not_sent");
  return toolFailed("http_error", "It failed.", 1 + world.int(3));
}
