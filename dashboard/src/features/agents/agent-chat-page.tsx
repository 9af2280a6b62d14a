import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ExternalLink } from "lucide-react";
import { useState } from "react";
import type { ChatPage } from "../../../../server/wire/chat-page.ts";
import { chatPageQuery, closeChatPage, rotateChatPage, setChatPage } from "../../entities/agent/chat-page-api.ts";
import { useMay } from "../../entities/session/use-may.ts";
import { useForm } from "../../lib/use-form.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ActDialog } from "../../ui/act-dialog.tsx";
import { Button, buttonClass } from "../../ui/button.tsx";
import { ChoiceCards } from "../../ui/choice-cards.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { FormSection } from "../../ui/form-section.tsx";
import { toast } from "../../ui/toast.ts";
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

/** The page on which others talk with an agent: whether there is one, for whom, and what it may cost. */
export function AgentChatPage({ id }: { id: string }) {
  const may = useMay("member");
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

/** Where the page is, and how to take it back. */
function OpenPage({ id, page: { url, access } }: { id: string; page: ChatPage }) {
  const [asked, setAsked] = useState<"rotate" | "close" | null>(null);
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
      {asked && (
        <ActDialog
          title={asked === "rotate" ? "Replace the link" : "Close the chat page"}
          act={asked === "rotate" ? "Replace the link" : "Close the page"}
          acting={asked === "rotate" ? "Replacing" : "Closing"}
          refused={asked === "rotate" ? "The link was not replaced" : "The page was not closed"}
          run={(): Promise<unknown> => (asked === "rotate" ? rotateChatPage(at, id) : closeChatPage(at, id))}
          stale={[chatPageQuery(at, id)]}
          onClose={() => setAsked(null)}
          onDone={() => toast(asked === "rotate" ? "Link replaced" : "Chat page closed")}
        >
          <p>Visitors lose access with their next message. Their conversations stay in Threads.</p>
        </ActDialog>
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
        <ChoiceCards label="Who can use it" choices={accesses} {...form.choose("access")} />
        <ChoiceCards label="What people can send" choices={filesChoices} {...form.choose("files")} />
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
