import type { HttpModule } from "../http/create-http.ts";
import type { Base } from "../http/module.ts";
import type { AgentsModule } from "../resources/agents/module.ts";
import type { ChatModule } from "../resources/chat/module.ts";
import type { KeysModule } from "../resources/keys/module.ts";
import type { AgentResolver } from "../resources/labels/module.ts";
import type { MemoryModule } from "../resources/memory/module.ts";
import type { ConnectionsModule } from "../resources/model-connections/module.ts";
import type { ThreadsModule } from "../resources/threads/module.ts";
import type { WebhooksModule } from "../resources/webhooks/module.ts";
import type { RunsModule } from "../runs/module.ts";
import type { Journals } from "../storage/journal/module.ts";
import type { ChatProtocol } from "./chat/routes.ts";

/** The modules that protocols use. */
export interface ProtocolModules {
  base: Base;
  http: HttpModule;
  journals: Journals;
  connections: ConnectionsModule;
  memory: MemoryModule;
  agents: AgentsModule;
  resolver: AgentResolver;
  threads: ThreadsModule;
  chat: ChatModule;
  keys: KeysModule;
  webhooks: WebhooksModule;
  runs: RunsModule;
  memberOf: ChatProtocol["memberOf"];
}
