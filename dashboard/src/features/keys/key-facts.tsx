import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ApiKey } from "../../../../server/domain/api-types/key.ts";
import { AgentLink } from "../../entities/agent/agent-link.tsx";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { CopyButton } from "../../ui/data/copy-button.tsx";
import { Time } from "../../ui/data/time.tsx";
import { KeyExpiry } from "./key-expiry.tsx";
import { KeyPill } from "./key-pill.tsx";
import { useKeyMaker } from "./use-key-acts.ts";

/** All details of a key. */
export function KeyFacts({ apiKey: key, now }: { apiKey: ApiKey; now: number }) {
  const maker = useKeyMaker(key);
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-1.5">
      <Fact name="Id">
        <span className="flex min-w-0 items-center">
          <code className="cut">{key.id}</code>
          <CopyButton text={key.id} what="key id" />
        </span>
      </Fact>
      <Fact name="Status">
        <KeyPill apiKey={key} />
      </Fact>
      <Fact name="Scope">{key.scopes.join(" and ")}</Fact>
      <Fact name="Expires">
        <KeyExpiry apiKey={key} now={now} />
      </Fact>
      <Fact name="Last used">
        {key.last_used_at ? <Time at={key.last_used_at} /> : "Not used yet"}
        {key.last_used_ip && <span className="ml-1.5 text-muted">from {key.last_used_ip}</span>}
      </Fact>
      <Fact name="Created">
        <Time at={key.created_at} />
        <span className="ml-1.5 text-muted">by {maker}</span>
      </Fact>
      {key.exposed_at && (
        <Fact name="Sent in clear text">
          <Time at={key.exposed_at} />
        </Fact>
      )}
      <Fact name="Agents">
        {key.agent_ids ? (
          <ul className="min-w-0">
            {key.agent_ids.map((id) => (
              <AgentName key={id} id={id} />
            ))}
          </ul>
        ) : (
          "All"
        )}
      </Fact>
      <Fact name="Networks">
        {key.allowed_cidrs ? <code className="wrap-anywhere">{key.allowed_cidrs.join(", ")}</code> : "All"}
      </Fact>
      {key.rotated_from && (
        <Fact name="Replaces">
          <KeyLink id={key.rotated_from} />
        </Fact>
      )}
      {key.rotated_to && (
        <Fact name="Replaced by">
          <KeyLink id={key.rotated_to} />
        </Fact>
      )}
    </dl>
  );
}

function KeyLink({ id }: { id: string }) {
  return (
    <Link to="/keys/$keyId" params={{ keyId: id }} className="cut font-mono text-accent hover:underline">
      {id}
    </Link>
  );
}

function AgentName({ id }: { id: string }) {
  const name = useAgentName(id);
  return (
    <li className="cut" title={`${name} ${id}`}>
      <AgentLink id={id} />
    </li>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="flex min-w-0 flex-wrap items-center">{children}</dd>
    </>
  );
}
