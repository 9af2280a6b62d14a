import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ExternalLink } from "lucide-react";
import { useState } from "react";
import type { ChatPage } from "../../../../server/domain/api-types/chat-page.ts";
import { chatPageQuery, closeChatPage, rotateChatPage, setChatPage } from "../../entities/agent/chat-page-api.ts";
import { VersionSelect } from "../../entities/agent/version-select.tsx";
import { usePermission } from "../../entities/session/use-may.ts";
import { useForm } from "../../hooks/use-form.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { CopyButton } from "../../ui/data/copy-button.tsx";
import { ActionDialog } from "../../ui/dialogs/action-dialog.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Button, buttonClass } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { Form } from "../../ui/forms/form.tsx";
import { FormSection } from "../../ui/forms/form-section.tsx";
import { RadioCards } from "../../ui/forms/radio-cards.tsx";
import { chatDraftOf, chatFaults, chatPageOf } from "./chat-page-draft.ts";

const accesses = [
  {
    value: "link",
    label: "Anyone with the link",
    hint: "No account needed. Visitors see the conversation, but no tools, instructions or costs.",
  },
  { value: "members", label: "Members", hint: "Members and owners who are signed in here." },
] as const;

const filesChoices = [
  { value: "none", label: "Text only", hint: "People send text." },
  {
    value: "files",
    label: "Text and files",
    hint: "People add images and documents, up to 10 MB each. Files are deleted with their runs.",
  },
] as const;

/** Settings of an agent's chat page: open or closed, who has access, and its limits. */
export function AgentChatPage({ id }: { id: string }) {
  const may = usePermission("member");
  const read = useQuery({ ...chatPageQuery(useWorkspace(), id), enabled: may });
  if (!may) return <p className="px-5 py-8 text-muted">Viewers cannot see the link of a chat page.</p>;
  if (read.isError)
    return (
      <div className="p-5">
        <ErrorNote title="The chat page cannot be shown" error={read.error} onRetry={() => void read.refetch()} />
      </div>
    );
  if (read.data === undefined) return null;
  return (
    <div className="px-4 rail:px-5">
      {read.data && <OpenPage id={id} page={read.data} />}
      <PageForm key={read.data?.updated_at ?? "new"} id={id} page={read.data} />
    </div>
  );
}

/** The URL of an open chat page, with the buttons that replace its link and close it. */
function OpenPage({ id, page: { url, access } }: { id: string; page: ChatPage }) {
  const [openDialog, setAsked] = useState<"rotate" | "close" | null>(null);
  const at = useWorkspace();
  return (
    <FormSection title="The page is open" about="The part after # gives access. Browsers do not send it to servers.">
      <div className="flex min-w-0 items-center gap-2">
        <code className="min-w-0 truncate text-xs" data-testid="chat-page-url">
          {url}
        </code>
        <CopyButton text={url} what="link" />
      </div>
      <div className="flex flex-wrap gap-2">
        <a href={url} target="_blank" rel="noopener" className={buttonClass()}>
          <ExternalLink aria-hidden className="size-4" strokeWidth={1.5} />
          Open the chat page
        </a>
        {access === "link" && <Button onClick={() => setAsked("rotate")}>New link</Button>}
        <Button kind="danger" onClick={() => setAsked("close")}>
          Close the page
        </Button>
      </div>
      {openDialog && (
        <ActionDialog
          title={openDialog === "rotate" ? "Replace the link" : "Close the chat page"}
          act={openDialog === "rotate" ? "Replace the link" : "Close the page"}
          acting={openDialog === "rotate" ? "Replacing" : "Closing"}
          refused={openDialog === "rotate" ? "The link was not replaced" : "The page was not closed"}
          run={(): Promise<unknown> => (openDialog === "rotate" ? rotateChatPage(at, id) : closeChatPage(at, id))}
          stale={[chatPageQuery(at, id)]}
          onClose={() => setAsked(null)}
          onDone={() => toast(openDialog === "rotate" ? "Link replaced" : "Chat page closed")}
        >
          <p>Visitors lose access with their next message. Their conversations stay in Threads.</p>
        </ActionDialog>
      )}
    </FormSection>
  );
}

function PageForm({ id, page }: { id: string; page: ChatPage | null }) {
  const at = useWorkspace();
  const client = useQueryClient();
  const form = useForm({
    first: () => chatDraftOf(page),
    check: chatFaults,
    send: (draft) => setChatPage(at, id, chatPageOf(draft, page?.budget ?? null)),
    onSent: (saved) => {
      client.setQueryData(chatPageQuery(at, id).queryKey, saved);
      toast(page ? "Chat page saved" : "Chat page opened");
    },
  });
  const number = { inputMode: "numeric", autoComplete: "off" } as const;
  return (
    <Form form={form} className="flex flex-col">
      <FormSection
        title="Chat page"
        about={
          <>
            People talk with this agent on a page of this server. It is closed until you open it.{" "}
            <a href="/docs/guides/chat-page" className="text-accent underline">
              How it works
            </a>
          </>
        }
      >
        <RadioCards label="Who can use it" choices={accesses} {...form.choose("access")} />
        <RadioCards label="What people can send" choices={filesChoices} {...form.choose("files")} />
        <VersionSelect agentId={id} onlyLabels hint="A label is read at each message." {...form.pick("choice")} />
        <Field label="Title" hint="Shown above the chat." autoComplete="off" {...form.text("title")} />
      </FormSection>
      <FormSection title="Run limits" about="Each message is a run. Above a limit, the page asks visitors to wait.">
        <div className="grid grid-cols-2 gap-4">
          <Field label="Runs per minute, per visitor" {...number} {...form.text("visitor_minute")} />
          <Field label="Runs per day, per visitor" {...number} {...form.text("visitor_day")} />
          <Field label="Runs per minute, all visitors" {...number} {...form.text("page_minute")} />
          <Field label="Runs per day, all visitors" {...number} {...form.text("page_day")} />
          <Field
            label="Max cost per run, USD"
            inputMode="decimal"
            placeholder="The agent's own"
            {...form.text("max_cost_usd")}
          />
        </div>
        <ErrorNote title={page ? "Not saved" : "The page was not opened"} error={form.error} />
        <div>
          <Button type="submit" kind="primary" disabled={form.isPending || (page !== null && !form.isChanged)}>
            {page ? "Save chat page" : "Open a chat page"}
          </Button>
        </div>
      </FormSection>
    </Form>
  );
}
