import { useChat } from "@ai-sdk/react";
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from "ai";
import { createElement, useState } from "react";

/** A chat with all that `useChat` has: tools of the page, approvals, errors, stopping, and answers made anew. */
export function WholeChat({ url, agent, token, id, messages: before }) {
  const at = `${url}/ui/v1/agents/${agent}/chat`;
  const headers = { Authorization: `Bearer ${token}` };
  const [transport] = useState(() => new DefaultChatTransport({ api: at, headers }));
  const chat = useChat({
    id,
    messages: before,
    transport,
    resume: true,
    sendAutomaticallyWhen: (all) =>
      lastAssistantMessageIsCompleteWithToolCalls(all) || lastAssistantMessageIsCompleteWithApprovalResponses(all),
    onToolCall: ({ toolCall: { toolName: tool, toolCallId, input } }) => {
      if (tool === "near") chat.addToolOutput({ tool, toolCallId, output: { near: input.city } });
      if (tool === "far") chat.addToolOutput({ tool, toolCallId, state: "output-error", errorText: "Too far." });
    },
  });
  const stop = async () => {
    await fetch(`${at}/${id}/stream`, { method: "DELETE", headers });
    await chat.stop();
  };
  return (
    <form action={(form) => chat.sendMessage({ text: form.get("text") })}>
      {chat.messages.map(({ id: key, role, parts }) => {
        const shown = parts.map((part) => createElement(Part, { part, chat }));
        return createElement("section", { key, "aria-label": role }, ...shown);
      })}
      <p role="status">{chat.status}</p>
      <p role="alert">{chat.error?.message}</p>
      <input name="text" aria-label="Message" />
      <button type="button" onClick={stop}>
        Stop
      </button>
      <button type="button" onClick={() => chat.regenerate()}>
        Again
      </button>
    </form>
  );
}

function Part({ part, chat }) {
  if (part.type === "text") return <p>{part.text}</p>;
  if (part.type === "reasoning") return <i>{part.text}</i>;
  if (!part.type.startsWith("tool-")) return null;
  const { type, state, output, errorText, approval } = part;
  const decide = (approved) => chat.addToolApprovalResponse({ id: approval.id, approved });
  return (
    <pre>
      {`${type} ${state} ${output === undefined ? (errorText ?? "") : JSON.stringify(output)}`}
      {state === "approval-requested" && (
        <>
          <button type="button" onClick={() => decide(true)}>
            Approve
          </button>
          <button type="button" onClick={() => decide(false)}>
            Reject
          </button>
        </>
      )}
    </pre>
  );
}
